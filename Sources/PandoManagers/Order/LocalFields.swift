import PandoModels
package import PandoStore

/// Puts back into entities that a server has sent what the server does not know of them.
package enum LocalFields {
  /// Whether there is anything to be put back in entities of a type.
  static func areIn<E: Entity>(_ type: E.Type) -> Bool {
    (type as? any ServedEntity.Type)?.hasLocalFields ?? false
  }

  /// Puts back what is stored of an entity and of the entities that it holds.
  ///
  /// - Parameters:
  ///   - entity: The entity, as a server has sent it.
  ///   - stored: What is here under the identifier of an entity; `nil` if nothing is.
  /// - Returns: The entity to store.
  static func restored<E: Entity>(
    _ entity: E, _ stored: (any ServedEntity) throws -> (any Model)?
  ) rethrows -> E {
    guard areIn(E.self) else { return entity }
    return try restoredTree(entity, stored) as? E ?? entity
  }

  /// The same of an entity of which a snapshot has what is stored.
  package static func restored<E: Entity>(
    _ entity: E, in snapshot: ModelSnapshot
  ) throws -> E {
    try restored(entity) { try $0.stored(in: snapshot) }
  }

  /// The same of entities of which others have what is stored, themselves or inside them.
  static func restored<E: Entity>(_ entities: [E], from stored: [E]) -> [E] {
    guard areIn(E.self), !stored.isEmpty else { return entities }
    let nodes = nodes(of: stored)
    return entities.map { entity in
      restored(entity) { nodes[ByteString($0.modelIdentifier ?? "")] }
    }
  }

  /// The same of the answers to a write, one for each entity that was sent, perhaps under another
  /// identifier.
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
      return try snapshot.model(id.modelIdentifier, as: Self.self)
    } catch is ModelError {
      // What can't be read can be replaced.
      return nil
    }
  }
}
