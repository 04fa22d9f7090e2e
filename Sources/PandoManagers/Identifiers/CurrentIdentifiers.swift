import PandoModels
import PandoStore

extension Query {
  /// The same query by the identifiers that the entities have now.
  func current(in snapshot: ModelSnapshot) throws -> Query {
    guard let identifiers = nodeIdentifiers, E.nodeNamespace != nil,
      identifiers.contains(where: { $0.contains(":local:") })
    else { return self }
    var query = self
    query.filter = .identifiers(try identifiers.map { try snapshot.currentIdentifier(of: $0) })
    query.order = try order.map { order in
      guard case .identifiers(let ids) = order.key else { return order }
      return .identifiers(try ids.map { try snapshot.currentIdentifier(of: $0.text) })
    }
    return query
  }
}

extension ModelSnapshot {
  /// The same entity by the identifiers that it and those it names have now.
  ///
  /// Whoever still holds an entity from before the server named it does not make it a second time.
  func current<E: Entity>(_ entity: E) throws -> E {
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

extension ServedEntity {
  /// This entity under another identifier, whose type is known to be that of this one.
  package func renamed(_ id: any Sendable) -> Self? {
    (id as? EntityIdentifier<Self>).flatMap(named(by:))
  }
}
