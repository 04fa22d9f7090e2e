import PandoModels

/// The changes of all updates since the oldest pending request to a cache.
///
/// The answer of a cache is older than the updates since the request. The changed nodes need not be
/// in a live tree, so the journal keeps their models until the answer arrives. Without pending
/// requests it records nothing.
struct JoinJournal {
  /// The changes of one node.
  private struct Entry {
    /// The models given since the last deletion of the node, one for each type, the newest last.
    var given: [any SimpleModel] = []
    /// The last update that set or deleted the node, and the last one that deleted it; 0 if there
    /// is none.
    var changed: UInt64 = 0
    var deleted: UInt64 = 0
    /// The last update that deleted the node in the cache too; 0 if there is none.
    var lost: UInt64 = 0
    /// True if the last change was written to the cache.
    var isWritten = false
  }

  /// The maximum count of recorded nodes.
  ///
  /// If it is exceeded, pending requests must be repeated.
  private static let nodeCountMaximum = 65_536

  private var entries: [ByteString: Entry] = [:]
  /// The count of pending answers.
  private var openCount = 0
  /// The count of recorded updates.
  private var number: UInt64 = 0
  /// The number of the last update that is not recorded.
  private var floor: UInt64 = 0

  var isOpen: Bool { openCount > 0 }

  /// Starts to record updates.
  ///
  /// - Returns: The number of the last earlier update.
  mutating func begin() -> UInt64 {
    openCount += 1
    return number
  }

  /// Ends the recording that ``begin()`` started.
  mutating func end() {
    openCount -= 1
    if openCount == 0 { entries = [:] }
  }

  /// Returns true if all updates after a number are recorded.
  func isComplete(since number: UInt64) -> Bool { number >= floor }

  /// Records the changes of an update.
  mutating func note(_ update: LiveUpdate) {
    number += 1
    let isWritten = update.operation?.isWritten ?? false
    for key in update.deleted {
      let lost = isWritten ? number : entries[key]?.lost ?? 0
      entries[key] = Entry(changed: number, deleted: number, lost: lost, isWritten: isWritten)
    }
    for (key, versions) in update.versions {
      var entry = entries[key] ?? Entry()
      for model in versions.given {
        entry.given.removeAll { type(of: $0) == type(of: model) }
        entry.given.append(model)
      }
      entry.changed = number
      entry.isWritten = isWritten
      entries[key] = entry
    }
    if entries.count > Self.nodeCountMaximum {
      entries = [:]
      floor = number
    }
  }

  /// Returns true if an update after a number has changed a node.
  func hasChanged(_ nodes: [TreeNodes.Node], since number: UInt64) -> Bool {
    if entries.isEmpty { return false }
    return nodes.contains { (entries[$0.identifier]?.changed ?? 0) > number }
  }

  /// Returns true if updates after a number have deleted a node in the cache, and set it again.
  func hasReturned(_ key: ByteString, since number: UInt64) -> Bool {
    guard let entry = entries[key] else { return false }
    return entry.lost > number && !entry.given.isEmpty
  }

  /// Adds the changes of a node to an update.
  ///
  /// - Parameters:
  ///   - key: The node's identifier.
  ///   - number: The last update to ignore.
  ///   - isWritten: True to add only changes that were written to the cache.
  ///   - update: The update for the joining trees.
  func add(
    _ key: ByteString, since number: UInt64, isWritten: Bool, to update: inout LiveUpdate
  ) {
    guard let entry = entries[key], entry.changed > number, entry.isWritten || !isWritten else {
      return
    }
    if entry.given.isEmpty {
      update.deleted.insert(key)
      return
    }
    update.give(entry.given, key)
    if entry.deleted > number { update.versions[adding: key].followsDeletion = true }
  }
}
