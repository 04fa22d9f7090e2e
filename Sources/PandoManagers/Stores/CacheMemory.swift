import PandoModels

/// The part of a cache that is in memory: what it keeps is what the persistent store has.
///
/// An entity shows more nodes than its own: one that is filled in with children goes when one of them
/// changes.
protocol CacheMemory<E>: CommitCache {
  associatedtype E: Entity

  /// Says when a read of a store without numbers begins.
  var token: UInt64 { get }

  /// An entity; `nil` if it is not here.
  func entity(forID identifier: EntityIdentifier<E>) -> E?

  /// Different entities by their identifiers; `nil` if one of them is not here.
  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]?

  /// Keeps what has been read, except for what has changed since.
  ///
  /// - Parameters:
  ///   - entities: What was read.
  ///   - number: The number of the commit it shows, or a token.
  ///   - haveChildren: Whether one of them may show other nodes than its own.
  func fill(_ entities: [E], readAt number: UInt64, haveChildren: Bool)

  /// Lets go of entities that have been written.
  func forget(_ identifiers: [EntityIdentifier<E>])
}

extension Entity {
  /// The nodes that it shows beside its own.
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
