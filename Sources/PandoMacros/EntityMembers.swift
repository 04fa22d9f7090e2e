import SwiftSyntax

/// An entity: a struct whose property `id` is an `EntityIdentifier`.
///
/// It conforms to `PersistentEntity` or another protocol of entities itself. The protocols give it its
/// identifier.
extension Declaration {
  /// True if the identifier of an entity is the key.
  var isEntity: Bool { entityID != nil }

  /// The identifier of an entity.
  private var entityID: StoredField? {
    fields.first { $0.name == "id" && $0.type.generic?.name == "EntityIdentifier" }
  }

  /// True if records may lack a field, which only `Codable` can leave out.
  var hasLazyFields: Bool { storedFields.contains { $0.type.generic?.name == "Lazy" } }

  /// The fields that filters and indexes use; queries have the identifier of an entity by itself.
  var queriedFields: [StoredField] { storedFields.filter { !isEntity || $0.name != "id" } }

  /// Notes other keys of an entity.
  func refuseKeys(_ mistakes: inout Mistakes) {
    for field in keyFields where field.name != "id" {
      guard let attribute = field.markers[.key] else { continue }
      mistakes.add(
        attribute, "the key of an entity is its id",
        Repair.remove(attribute, of: field.declaration))
    }
  }
}

extension TypeName {
  /// The type whose entities an `EntityIdentifier`, an optional or lazy one, or a list of them names;
  /// `nil` for another type.
  fileprivate var relatedEntity: String? {
    if let element { return element.relatedEntity }
    switch TypeName(wrapped).generic {
    case ("EntityIdentifier", let argument)?: return argument
    case ("Lazy", let argument)?: return TypeName(argument).relatedEntity
    default: return nil
    }
  }
}

extension Expansion {
  /// Adds what an entity has beside the members of a model.
  mutating func addEntityMembers(_ arguments: ModelArguments) {
    guard let id = declaration.fields.first(where: { $0.name == "id" }) else { return }
    let name = declaration.name
    if arguments.nodeType != "Self" {
      let node = arguments.nodeType
      add("RemoteID", ["typealias RemoteID = \(node).RemoteID"])
      add(
        "static identifierNamespace",
        ["static var identifierNamespace: Swift.String { \(node).identifierNamespace }"])
    }
    if !id.isConstant {
      add(
        "withIdentifier(_:)",
        [
          "func withIdentifier(_ id: \(id.type.text)) -> \(name) {",
          "  var entity = self", "  entity.id = id", "  return entity", "}",
        ])
    }
    let related = declaration.storedFields.filter {
      $0.name != "id" && !$0.isConstant && $0.type.relatedEntity != nil
    }
    if related.isEmpty { return }
    add(
      "static relationships",
      ["static let relationships: [PandoManagers.EntityRelationship<\(name)>] = ["]
        + related.map { "  .to(\\.\($0.member), \($0.storedName.literal))," } + ["]"])
  }
}
