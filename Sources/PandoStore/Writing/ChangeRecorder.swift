import PandoModels
import PandoSystem

/// Collects the changes of one write for its change set.
///
/// Nodes are distinguished by number; a number assigned in this write means a new node. A node
/// inserted and deleted in one write is omitted. A node deleted and stored again, under another
/// number, counts as updated.
///
/// The lists keep the order of the changes; each set has the numbers of its list. A collection in
/// `resetCollections` has no `collectionChanges`.
struct ChangeRecorder {
  private typealias Node = (number: UInt64, identifier: String)

  /// The first node number that this write can assign.
  private let firstNewNode: UInt64
  private var inserted: [Node] = []
  private var updated: [Node] = []
  private var updatedNumbers: Set<UInt64> = []
  private var deleted: [ByteString] = []
  private var removedNumbers: Set<UInt64> = []
  private var collectionChanges: [ByteString: [CollectionChangeInformation]] = [:]
  private var resetCollections: Set<ByteString> = []

  init(firstNewNode: UInt64) { self.firstNewNode = firstNewNode }

  mutating func insert(_ node: UInt64, _ identifier: String) {
    inserted.append((node, identifier))
  }

  mutating func update(_ node: UInt64, _ identifier: String) {
    guard node < firstNewNode, updatedNumbers.insert(node).inserted else { return }
    updated.append((node, identifier))
  }

  mutating func delete(_ node: UInt64, _ identifier: String) {
    removedNumbers.insert(node)
    if node < firstNewNode { deleted.append(ByteString(identifier)) }
  }

  /// Appends positional changes, which apply after the recorded ones of the collection.
  mutating func change(collection cacheKey: String, _ changes: [CollectionChangeInformation]) {
    guard !changes.isEmpty else { return }
    let key = ByteString(cacheKey)
    if resetCollections.contains(key) { return }
    // In place: a write may append a hundred thousand elements one by one.
    collectionChanges[key, default: []].append(contentsOf: changes)
  }

  /// Notes that a collection was set or removed as a whole.
  mutating func reset(collection cacheKey: String) {
    let key = ByteString(cacheKey)
    collectionChanges[key] = nil
    resetCollections.insert(key)
  }
}

extension ChangeRecorder {
  /// The changes without commit number and author; `nil` if there are none.
  struct Summary {
    var inserted: [String] = []
    var updated: [String] = []
    var deleted: [String] = []
    var collections: [CollectionUpdate] = []
  }

  var summary: Summary? {
    var summary = Summary()
    let gone = inserted.isEmpty ? [] : Set(deleted)
    var returned: Set<ByteString> = []
    for node in inserted where !removedNumbers.contains(node.number) {
      if !gone.isEmpty, gone.contains(ByteString(node.identifier)) {
        returned.insert(ByteString(node.identifier))
        summary.updated.append(node.identifier)
      } else {
        summary.inserted.append(node.identifier)
      }
    }
    for node in updated where !removedNumbers.contains(node.number) {
      summary.updated.append(node.identifier)
    }
    for identifier in deleted where !returned.contains(identifier) {
      summary.deleted.append(identifier.text)
    }
    for (key, changes) in collectionChanges {
      summary.collections.append(CollectionUpdate(cacheKey: key.text, change: .changes(changes)))
    }
    for key in resetCollections {
      summary.collections.append(CollectionUpdate(cacheKey: key.text, change: .reset))
    }
    if summary.collections.count > 1 {
      summary.collections = summary.collections.ordered {
        $0.cacheKey.hasBytes(before: $1.cacheKey)
      }
    }
    let isEmpty =
      summary.inserted.isEmpty && summary.updated.isEmpty && summary.deleted.isEmpty
      && summary.collections.isEmpty
    return isEmpty ? nil : summary
  }
}

/// The effects of a delete.
///
/// ```swift
/// if let deletion = try store.write({ try $0.deleteIfPresent("Person:7") }) {
///   print(deletion.deleted, deletion.updated, deletion.collections)
/// }
/// ```
public struct Deletion: Hashable, Sendable {
  /// The deleted identifiers: first the requested one, then the parents that required it.
  public internal(set) var deleted: [String] = []
  /// The nodes that lost a child and stay, in the order in which they were first stored.
  public internal(set) var updated: [String] = []
  /// The cache keys of the collections that lost an element.
  public internal(set) var collections: [String] = []
}
