import PandoModels

/// The memory of a cache over a model store: above its limit it removes the entity that was used longest ago.
final class LimitedCacheMemory<E: Entity>: CacheMemory {
  private let table: CacheTable

  init(limit: Int, _ follower: StoreFollower) { table = CacheTable(limit: limit, follower) }

  /// Unused, because commits have numbers.
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
    // The table holds no other objects.
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
    drop(Set(identifiers.map { ByteString($0.modelIdentifier) }))
  }

  func drop(_ identifiers: Set<ByteString>) { table.drop(identifiers) }

  var isSeen: Bool { false }

  func dropAll() { table.dropAll() }
}

/// An entity as an object, so that one ``CacheTable`` serves all types.
private final class KeptEntity<E: Entity>: Sendable {
  let entity: E

  init(_ entity: E) { self.entity = entity }
}
