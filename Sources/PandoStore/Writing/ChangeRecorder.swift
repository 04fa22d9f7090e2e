import PandoModels
import PandoSystem

/// Collects what one write did, until it becomes a change set.
///
/// Nodes are told apart by their numbers, which are cheap to compare: a node whose number was given
/// in this write is new. A node that is inserted and deleted again in one write never was; one that
/// is deleted and stored again, under another number, was updated.
struct ChangeRecorder {
  private typealias Node = (number: UInt64, identifier: String)

  /// The first node number that this write can give.
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

  /// Adds positional changes, which apply after those already recorded for the collection.
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
  /// The changes without their commit number and author; `nil` if there are none.
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

/// What a delete did.
///
/// ```swift
/// if let deletion = try store.write({ try $0.delete("Person:7") }) {
///   print(deletion.deleted, deletion.updated, deletion.collections)
/// }
/// ```
public struct Deletion: Hashable, Sendable {
  /// The identifiers that are gone: the one asked for first, then the parents that required it.
  public internal(set) var deleted: [String] = []
  /// The identifiers of nodes that lost a child and stay, in the order the store first saw them.
  public internal(set) var updated: [String] = []
  /// The cache keys of the collections that lost an element.
  public internal(set) var collections: [String] = []
}
