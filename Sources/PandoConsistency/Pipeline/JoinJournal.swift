import PandoModels

/// What updates have carried since the oldest tree was asked for that is still to come from a cache.
///
/// What a cache answers is older than the updates since it was asked, and nobody need show the nodes
/// that they changed: so these are remembered until the answer is there. Nothing is while none is asked.
struct JoinJournal {
  /// What has become of one node.
  private struct Entry {
    /// What was given since the node was last deleted, one model a type, the newest last.
    var given: [any SimpleModel] = []
    /// The last update that carried the node, and the last one that deleted it; 0 if none did.
    var changed: UInt64 = 0
    var deleted: UInt64 = 0
    /// Whether the last change reached the cache.
    var isWritten = false
  }

  /// How many nodes are remembered; who asked before there were more has to ask again.
  private static let nodeCountMaximum = 65_536

  private var entries: [ByteString: Entry] = [:]
  /// How many answers are still to come.
  private var openCount = 0
  /// How many updates have been noted.
  private var number: UInt64 = 0
  /// Nothing is known of this update and those before.
  private var floor: UInt64 = 0

  var isOpen: Bool { openCount > 0 }

  /// Begins to remember what comes.
  ///
  /// - Returns: The last update before.
  mutating func begin() -> UInt64 {
    openCount += 1
    return number
  }

  /// Ends what ``begin()`` began.
  mutating func end() {
    openCount -= 1
    if openCount == 0 { entries = [:] }
  }

  /// Whether everything after an update is known.
  func isComplete(since number: UInt64) -> Bool { number >= floor }

  /// Remembers what an update carries.
  mutating func note(_ update: LiveUpdate) {
    number += 1
    let isWritten = update.operation?.isWritten ?? false
    for key in update.deleted {
      entries[key] = Entry(changed: number, deleted: number, isWritten: isWritten)
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

  /// Adds what has become of a node to an update.
  ///
  /// - Parameters:
  ///   - key: The node's identifier.
  ///   - number: The last update that does not count.
  ///   - isWritten: Whether only what reached the cache counts.
  ///   - update: What joins.
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
    if entry.deleted > number { update.renewed.insert(key) }
    update.give(entry.given, key)
  }
}
