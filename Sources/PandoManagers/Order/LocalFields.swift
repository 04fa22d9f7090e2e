import PandoModels
package import PandoStore

/// Fills entities of a server with the stored values of fields that the server does not have.
package enum LocalFields {
  /// Whether entities of a type can have such fields.
  static func areIn<E: Entity>(_ type: E.Type) -> Bool {
    (type as? any ServedEntity.Type)?.hasLocalFields ?? false
  }

  /// Fills an entity and the entities inside it.
  ///
  /// - Parameters:
  ///   - entity: The entity of the server.
  ///   - stored: Returns the stored value of an entity; `nil` if there is none.
  /// - Returns: The entity to store.
  static func restored<E: Entity>(
    _ entity: E, _ stored: (any ServedEntity) throws -> (any Model)?
  ) rethrows -> E {
    guard areIn(E.self) else { return entity }
    return try restoredTree(entity, stored) as? E ?? entity
  }

  /// The same, with the stored values of a snapshot.
  package static func restored<E: Entity>(
    _ entity: E, in snapshot: ModelSnapshot
  ) throws -> E {
    try restored(entity) { try $0.stored(in: snapshot) }
  }

  /// The same for several entities, with the values in given entities.
  static func restored<E: Entity>(_ entities: [E], from stored: [E]) -> [E] {
    guard areIn(E.self), !stored.isEmpty else { return entities }
    let nodes = nodes(of: stored)
    return entities.map { entity in
      restored(entity) { nodes[ByteString($0.modelIdentifier ?? "")] }
    }
  }

  /// The same for the answers to a write, one for each sent entity, perhaps with another identifier.
  static func restored<E: Entity>(_ answers: [E], ofSent sent: [E]) -> [E] {
    guard areIn(E.self), answers.count == sent.count else { return answers }
    return zip(answers, sent).map { answer, sent in
      let own = answer.modelIdentifier ?? ""
      let found = nodes(of: [sent])
      return restored(answer) { served in
        let identifier = served.modelIdentifier ?? ""
        return identifier.hasSameBytes(as: own) ? sent : found[ByteString(identifier)]
      }
    }
  }

  private static func nodes<E: Entity>(of entities: [E]) -> [ByteString: any Model] {
    var nodes: [ByteString: any Model] = [:]
    func add(_ model: any Model) {
      if let identifier = model.modelIdentifier { nodes[ByteString(identifier)] = model }
      model.forEach(add)
    }
    for entity in entities { add(entity) }
    return nodes
  }

  private static func restoredTree(
    _ model: any Model, _ stored: (any ServedEntity) throws -> (any Model)?
  ) rethrows -> any Model {
    var children: [any Model] = []
    model.forEach { children.append($0) }
    var restored = model
    if !children.isEmpty {
      let kept = try children.map { try restoredTree($0, stored) }
      var next = 0
      restored =
        model.map { child in
          defer { next += 1 }
          return next < kept.count ? kept[next] : child
        } ?? model
    }
    guard let served = restored as? any ServedEntity, type(of: served).hasLocalFields,
      let here = try stored(served)
    else { return restored }
    return served.keeping(here)
  }
}

extension ServedEntity {
  fileprivate func keeping(_ stored: any Model) -> any Model {
    (stored as? Self).map(keepingLocalFields(of:)) ?? self
  }

  fileprivate func stored(in snapshot: ModelSnapshot) throws -> (any Model)? {
    do {
      return try snapshot.get(id.modelIdentifier, as: Self.self)
    } catch is ModelError {
      // A value that can't be read is replaced.
      return nil
    }
  }
}
