import PandoModels

/// The memory of a cache over a model store that has it to itself: it keeps a number of entities at
/// most, and over the limit lets go of the one that was used longest ago.
final class LimitedCacheMemory<E: Entity>: CacheMemory {
  private let table: CacheTable

  init(limit: Int, _ follower: StoreFollower) { table = CacheTable(limit: limit, follower) }

  /// Commits have numbers.
  var token: UInt64 { 0 }

  func entity(forID identifier: EntityIdentifier<E>) -> E? {
    table.value(forKey: ByteString(identifier.modelIdentifier)).map { Self.entity($0) }
  }

  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]? {
    table.values(forKeys: identifiers.map { ByteString($0.modelIdentifier) })?.map {
      Self.entity($0)
    }
  }

  private static func entity(_ kept: any AnyObject & Sendable) -> E {
    // Nothing else is put into the table.
    unsafe unsafeDowncast(kept, to: KeptEntity<E>.self).entity
  }

  func fill(_ entities: [E], readAt number: UInt64, haveChildren: Bool) {
    for entity in entities {
      table.keep(
        KeptEntity(entity), forKey: ByteString(entity.id.modelIdentifier),
        children: haveChildren ? entity.cachedChildren : [], readAt: number)
    }
  }

  func forget(_ identifiers: [EntityIdentifier<E>]) {
    drop(identifiers.map { ByteString($0.modelIdentifier) })
  }

  func drop(_ identifiers: [ByteString]) { table.drop(identifiers) }

  func dropAll() { table.dropAll() }
}

/// An entity as an object, so that the table of a cache is the same for all types.
private final class KeptEntity<E: Entity>: Sendable {
  let entity: E

  init(_ entity: E) { self.entity = entity }
}
