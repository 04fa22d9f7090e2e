import ModelCore

/// Collects what one write did, until it becomes a change set.
///
/// Each identifier stands in one of the three sets at most: what is inserted and deleted again in one
/// write never was, and what is deleted and stored again was updated.
struct ChangeRecorder {
  private(set) var inserted: Set<ByteString> = []
  private(set) var updated: Set<ByteString> = []
  private(set) var deleted: Set<ByteString> = []
  private(set) var collections: [ByteString: CollectionChange] = [:]

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && collections.isEmpty
  }

  var collectionUpdates: [CollectionUpdate] {
    collections.sorted { $0.key < $1.key }
      .map { CollectionUpdate(cacheKey: $0.key.text, change: $0.value) }
  }

  mutating func insert(_ identifier: String) {
    let identifier = ByteString(identifier)
    if deleted.remove(identifier) != nil {
      updated.insert(identifier)
    } else {
      inserted.insert(identifier)
    }
  }

  mutating func update(_ identifier: String) {
    let identifier = ByteString(identifier)
    if !inserted.contains(identifier) { updated.insert(identifier) }
  }

  mutating func delete(_ identifier: String) {
    let identifier = ByteString(identifier)
    updated.remove(identifier)
    if inserted.remove(identifier) == nil { deleted.insert(identifier) }
  }

  /// Adds positional changes, which apply after those already recorded for the collection.
  mutating func change(collection cacheKey: String, _ changes: [CollectionChangeInformation]) {
    guard !changes.isEmpty else { return }
    switch collections[ByteString(cacheKey)] {
    case .reset: break
    case .changes(let earlier): collections[ByteString(cacheKey)] = .changes(earlier + changes)
    case nil: collections[ByteString(cacheKey)] = .changes(changes)
    }
  }

  /// Notes that a collection was set or removed as a whole.
  mutating func reset(collection cacheKey: String) { collections[ByteString(cacheKey)] = .reset }
}
