import PandoModels
import PandoStore

/// The nodes that a write has touched, and the models that it was given for them.
struct TouchedNodes {
  /// Those that are there, and those that are gone.
  let identifiers: [ByteString]
  let deleted: Set<ByteString>
  /// Whether some of them were there before.
  let hasUpdated: Bool
  /// The only model that was given, if only its node was touched and it has no others inside.
  private(set) var only: (any SimpleModel)?
  /// What was given otherwise, by identifier; empty where that does not say what is stored.
  private var given: [ByteString: any SimpleModel] = [:]
  /// Those that were given with different content.
  private var ambiguous: Set<ByteString> = []

  init(_ changeSet: ChangeSet, _ content: WrittenContent) {
    let (updated, inserted) = (changeSet.updated, changeSet.inserted)
    hasUpdated = !updated.isEmpty
    deleted = changeSet.deleted.isEmpty ? [] : Set(changeSet.deleted.map { ByteString($0) })
    var identifiers: [ByteString] = []
    identifiers.reserveCapacity(updated.count + inserted.count + deleted.count)
    for identifier in updated { identifiers.append(ByteString(identifier)) }
    for identifier in inserted { identifiers.append(ByteString(identifier)) }
    identifiers += deleted
    self.identifiers = identifiers
    guard content.isPlain, !content.hasDeletes else { return }
    if content.models.count == 1, identifiers.count == 1, content.models[0].areSingleNodes {
      content.models[0].forEach { model in
        if model.modelIdentifier.map({ ByteString($0) }) == identifiers[0] { only = model }
      }
      return
    }
    for models in content.models {
      models.forEach { visit($0, isOneNode: models.areSingleNodes) }
    }
    for identifier in ambiguous { given[identifier] = nil }
  }

  private mutating func visit(_ root: any SimpleModel, isOneNode: Bool) {
    guard !isOneNode, let model = root as? any Model else {
      if let identifier = root.modelIdentifier { note(root, identifier) }
      return
    }
    ModelChildren.walk(model) { node, identifier in
      if let identifier { note(ModelBoxes.simple(node), identifier) }
      return true
    }
  }

  private mutating func note(_ node: any SimpleModel, _ identifier: String) {
    let key = ByteString(identifier)
    if let other = given.updateValue(node, forKey: key), !other.isEqual(to: node) {
      ambiguous.insert(key)
    }
  }

  /// What a node is now as a type: the entity, or `nil` for one that is gone.
  ///
  /// - Returns: `nil` if that has to be read.
  func entity<E: Queryable>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = (only ?? given[identifier]) as? E else { return nil }
    return entity
  }
}

extension ByteString {
  /// Whether it is an identifier in a namespace: `Person` of `Person:12`.
  ///
  /// In the empty one are all.
  func isIdentifier(of namespace: ByteString) -> Bool {
    if namespace.text.isEmpty { return true }
    let (bytes, prefix) = (text.utf8, namespace.text.utf8)
    guard bytes.count > prefix.count, bytes.starts(with: prefix) else { return false }
    return bytes[bytes.index(bytes.startIndex, offsetBy: prefix.count)] == UInt8(ascii: ":")
  }
}
