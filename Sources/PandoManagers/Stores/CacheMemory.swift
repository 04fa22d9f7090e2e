import PandoModels
import PandoRecords

/// The entities that a cache holds in memory.
///
/// An entity may contain other nodes. The memory drops it if one of them changes.
protocol CacheMemory<E>: CommitCache {
  associatedtype E: Entity

  /// The count of writes so far, taken before a read of a store without commit numbers.
  var token: UInt64 { get }

  /// An entity; `nil` if memory lacks it.
  func entity(forID identifier: EntityIdentifier<E>) -> E?

  /// Different entities by their identifiers; `nil` if memory lacks one of them.
  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]?

  /// Adds entities that were read, except those that have changed since.
  ///
  /// - Parameters:
  ///   - entities: The entities.
  ///   - number: The number of the commit that they show, or a token.
  ///   - haveChildren: Whether an entity may contain other nodes.
  func fill(_ entities: [E], readAt number: UInt64, haveChildren: Bool)

  /// Removes entities that have been written.
  func forget(_ identifiers: [EntityIdentifier<E>])
}

extension Entity {
  /// The identifiers of the nodes inside the entity.
  var cachedChildren: [ByteString] {
    let own = id.modelIdentifier
    var found: Set<ByteString> = []
    ModelChildren.walk(self) { _, identifier in
      if let identifier, !identifier.hasSameBytes(as: own) { found.insert(ByteString(identifier)) }
      return true
    }
    return Array(found)
  }
}
