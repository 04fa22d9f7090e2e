import PandoStore
import PandoSystem

/// Messages without writes, by which replicas compare their histories where nobody writes.
extension Replica {
  /// What of the log some entry was made behind: whose maker has told its hash of that.
  struct Coverage {
    /// The highest position from which an entry was made that has the store's own history.
    var covered: UInt64 = 0
    /// The position of the last message that has to be compared.
    var wanted: UInt64 = 0
    /// Where the store was at the last look, and at how many looks it has been there before.
    var position: UInt64 = 0
    var quietCount = 0
    /// Whether it is not waited until nobody writes.
    var isUrgent = false
  }

  /// Appends a mark if nobody has written for some looks, and no entry says yet what history the last ones have led to.
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

  /// Notes what was taken in.
  ///
  /// - Parameters:
  ///   - covered: The highest position from which an entry was made.
  ///   - wanted: The last position that has to be compared.
  ///   - isUrgent: Whether somebody has another history, who has to hear of it.
  func noteCoverage(_ covered: UInt64, wanted: UInt64, isUrgent: Bool = false) {
    coverage.withLock { coverage in
      coverage.isUrgent = isUrgent || coverage.isUrgent && covered < coverage.wanted
      coverage.covered = max(coverage.covered, covered)
      coverage.wanted = max(coverage.wanted, wanted)
    }
  }
}
