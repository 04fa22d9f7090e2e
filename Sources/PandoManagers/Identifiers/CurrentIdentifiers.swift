import PandoModels
import PandoStore

extension Query {
  /// The same query with the present identifiers of its entities.
  func current(in snapshot: ModelSnapshot) throws -> Query {
    guard let identifiers = nodeIdentifiers, E.identifierType != nil,
      identifiers.contains(where: { $0.contains(":local:") })
    else { return self }
    return try naming { try snapshot.currentIdentifier(of: $0) }
  }

  /// The same query with other identifiers.
  func naming(_ name: (String) throws -> String) rethrows -> Query {
    var query = self
    if let identifiers = nodeIdentifiers { query.filter = .identifiers(try identifiers.map(name)) }
    query.order = try order.map { order in
      guard case .identifiers(let ids) = order.key else { return order }
      return .identifiers(try ids.map { try name($0.text) })
    }
    return query
  }
}

extension Query where E: Entity {
  /// The same query with the present identifiers of its entities, for entities in memory.
  func current(in names: [EntityIdentifier<E>: EntityIdentifier<E>]) -> Query {
    guard !names.isEmpty, identifiers?.contains(where: { names[$0] != nil }) == true else {
      return self
    }
    return naming { name in
      EntityIdentifier<E>(modelIdentifier: name).flatMap { names[$0]?.modelIdentifier } ?? name
    }
  }
}

extension ModelSnapshot {
  /// The same entity with the present identifiers of itself and of the entities that it names.
  ///
  /// So a caller with an older value does not insert the entity a second time.
  package func current<E: Entity>(_ entity: E) throws -> E {
    var current = entity
    for relationship in E.relationships {
      for old in relationship.modelIdentifiers(entity) where old.contains(":local:") {
        let new = try currentIdentifier(of: old)
        if !new.hasSameBytes(as: old) { relationship.replacing(&current, old, new) }
      }
    }
    guard entity.id.isLocal else { return current }
    let id = try currentIdentifier(of: entity.id)
    guard id != entity.id, let served = current as? any ServedEntity else { return current }
    return served.renamed(id) as? E ?? current
  }
}

extension Entity {
  /// The same entity with the identifier that a server has assigned.
  func named(_ names: [EntityIdentifier<Self>: EntityIdentifier<Self>]) -> Self {
    guard let name = names[id], let served = self as? any ServedEntity else { return self }
    return served.renamed(name) as? Self ?? self
  }
}

extension ServedEntity {
  /// The entity with another identifier, which has the type of its own.
  package func renamed(_ id: any Sendable) -> Self? {
    (id as? EntityIdentifier<Self>).flatMap(named(by:))
  }
}
