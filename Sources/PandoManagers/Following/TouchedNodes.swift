import PandoModels
import PandoProviders
import PandoStore

/// The touched nodes of a write, and the models that it was given for them.
struct TouchedNodes {
  /// Inserted, updated and deleted nodes.
  let identifiers: [ByteString]
  let deleted: Set<ByteString>
  /// Whether a node existed before.
  let hasUpdated: Bool
  /// The number of the last commit after the write.
  private let commit: UInt64
  /// Whether a node may contain other nodes.
  let mayHoldNodes: Bool
  /// The model of the only touched node, if the write was given one node.
  private let only: (any SimpleModel)?
  /// The models of any other write; `nil` if they do not determine the stored values.
  private let given: WrittenNodes?

  init(_ write: CommitEffects) {
    hasUpdated = write.hasUpdated
    commit = write.commitValue
    deleted = write.deleted.isEmpty ? [] : Set(write.deleted)
    identifiers = write.nodes
    only = write.only
    mayHoldNodes = only == nil && !write.content.areSingleNodes
    given = only == nil ? WrittenNodes(identifiers, in: write.content) : nil
  }

  /// The value of a touched node as a type: the entity, or `nil` inside for a deleted one.
  ///
  /// - Returns: `nil` if the value has to be read.
  @inline(__always)
  func entity<E: Queryable>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = (only ?? given?[identifier]) as? E else { return nil }
    return entity
  }

  /// Reads an entity that the write has not touched, as it is after the write.
  ///
  /// - Returns: The entity, or `nil` inside if there is none; `nil` if it can't be read, or no more in that version.
  func untouched<E: Queryable>(
    _ identifier: ByteString, as type: E.Type, in store: ModelStore
  ) -> RankedEntity<E>?? {
    do {
      return try store.read { snapshot -> RankedEntity<E>?? in
        guard try snapshot.commitValue == commit else { return nil }
        return .some(try snapshot.ranked(identifier, as: type))
      }
    } catch {
      return nil
    }
  }
}
