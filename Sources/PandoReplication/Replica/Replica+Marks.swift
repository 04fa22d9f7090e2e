import PandoStore
import PandoSystem

/// Messages without writes, by which replicas compare their histories while no machine writes.
extension Replica {
  /// The part of the log that an entry covers: each entry has the hash of the messages from which it was made.
  struct Coverage {
    /// The highest position from which an entry with the store's own history was made.
    var covered: UInt64 = 0
    /// The position of the last message that must be compared.
    var wanted: UInt64 = 0
    /// The position of the store at the last look, and the number of looks with that same position.
    var position: UInt64 = 0
    var quietCount = 0
    /// Whether a mark is due although machines write.
    var isUrgent = false
  }

  /// Appends a mark if no machine has written for some looks, and no entry has yet compared the history of the last
  /// messages.
  ///
  /// - Throws: As ``passBarrier()``.
  package func markIfQuiet() throws {
    guard halt == nil, !configuration.omissions.contains(.marks),
      let position = try store?.read({ try $0.replicationRow?.position })
    else {
      return
    }
    let isDue = coverage.withLock { coverage -> Bool in
      if coverage.isUrgent, coverage.wanted > coverage.covered { return true }
      guard coverage.position == position, position >= lastSeen else {
        (coverage.position, coverage.quietCount) = (position, 0)
        return false
      }
      coverage.quietCount += 1
      return coverage.wanted > coverage.covered
        && coverage.quietCount >= configuration.quietLookCount
    }
    if isDue { try passBarrier() }
  }

  /// Notes which messages were applied.
  ///
  /// - Parameters:
  ///   - covered: The highest position from which an entry was made.
  ///   - wanted: The last position that must be compared.
  ///   - isUrgent: Whether another machine has another history, which the mark lets it detect.
  func noteCoverage(_ covered: UInt64, wanted: UInt64, isUrgent: Bool = false) {
    coverage.withLock { coverage in
      coverage.isUrgent = isUrgent || coverage.isUrgent && covered < coverage.wanted
      coverage.covered = max(coverage.covered, covered)
      coverage.wanted = max(coverage.wanted, wanted)
    }
  }
}
