import ModelCore

/// Who holds which node: identifier → live trees.
///
/// It holds no model, and forgets a node with the last tree that holds it.
struct LiveRegistry {
  struct Slot: Hashable {
    let holder: UInt64
    let row: LiveRow
  }

  struct Entry {
    var slots: Set<Slot> = []
    /// The types by which live trees hold the node, since somebody last began to hold it.
    var types: [any SimpleModel.Type] = []
  }

  var holders: [UInt64: any LiveHolder] = [:]
  var entries: [ByteString: Entry] = [:]
  var topics: [ByteString: Set<UInt64>] = [:]

  mutating func insert(_ identifier: ByteString, _ type: any SimpleModel.Type, _ slot: Slot) {
    var entry = entries.removeValue(forKey: identifier) ?? Entry()
    entry.slots.insert(slot)
    if !entry.types.contains(where: { $0 == type }) { entry.types.append(type) }
    entries[identifier] = entry
  }

  mutating func remove(_ identifier: ByteString, _ slot: Slot) {
    guard var entry = entries.removeValue(forKey: identifier) else { return }
    entry.slots.remove(slot)
    if !entry.slots.isEmpty { entries[identifier] = entry }
  }

  /// The trees an update may change, by holder, in the order in which the holders were registered.
  func affected(by update: LiveUpdate) -> [(holder: any LiveHolder, rows: [LiveRow])] {
    var rows: [UInt64: Set<LiveRow>] = [:]
    for identifier in update.versions.keys {
      for slot in entries[identifier]?.slots ?? [] {
        rows[slot.holder, default: []].insert(slot.row)
      }
    }
    for identifier in update.deleted {
      for slot in entries[identifier]?.slots ?? [] {
        rows[slot.holder, default: []].insert(slot.row)
      }
    }
    for topic in update.topics.keys {
      for holder in topics[topic] ?? [] { rows[holder, default: []].formUnion([]) }
    }
    if let holder = update.operation?.holder { rows[holder.number, default: []].formUnion([]) }
    return rows.sorted { $0.key < $1.key }.compactMap { number, rows in
      holders[number].map { ($0, rows.sorted()) }
    }
  }
}
