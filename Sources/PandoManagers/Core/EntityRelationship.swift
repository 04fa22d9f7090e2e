/// A field of an entity that holds identifiers of other entities.
///
/// ```swift
/// struct Loan: PersistentEntity {
///   var id: EntityIdentifier<Loan>
///   var book: EntityIdentifier<Book>
///   static let relationships: [EntityRelationship<Loan>] = [.to(\.book, "book")]
/// }
/// ```
public struct EntityRelationship<E: Entity>: Sendable {
  /// The key under which the field is coded.
  public let name: String

  /// The type of the named entities.
  public let target: any Entity.Type

  package let keyPath: any PartialKeyPath<E> & Sendable
  /// The identifiers of the nodes that an entity names in the field, in order.
  package let modelIdentifiers: @Sendable (E) -> [String]
  /// Replaces one identifier of a node by another.
  package let replacing: @Sendable (inout E, _ old: String, _ new: String) -> Void

  /// A relationship by a field with an identifier, an optional one, or a list of them.
  ///
  /// - Parameters:
  ///   - keyPath: The field. Pando replaces identifiers in it if a server assigns other ones.
  ///   - name: The key under which the field is coded.
  /// - Returns: The relationship.
  public static func to<Value: RelationshipValue>(
    _ keyPath: any WritableKeyPath<E, Value> & Sendable, _ name: String
  ) -> EntityRelationship {
    EntityRelationship(
      name: name, target: Value.Target.self, keyPath: keyPath,
      modelIdentifiers: { $0[keyPath: keyPath].relatedIdentifiers.map(\.modelIdentifier) },
      replacing: { entity, old, new in
        guard let old = EntityIdentifier<Value.Target>(modelIdentifier: old),
          let new = EntityIdentifier<Value.Target>(modelIdentifier: new)
        else { return }
        entity[keyPath: keyPath].replaceRelated(old, with: new)
      })
  }

  /// The identifiers that an entity has in the field.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: The identifiers of the nodes, in order.
  public func relatedIdentifiers(of entity: E) -> [String] { modelIdentifiers(entity) }
}

/// The value of a relationship: an identifier, an optional or lazy one, or a list.
///
/// ```swift
/// var book: EntityIdentifier<Book>
/// var reader: EntityIdentifier<Author>?
/// var notes: [EntityIdentifier<Author>]
/// static let relationships: [EntityRelationship<Loan>] = [
///   .to(\.book, "book"), .to(\.reader, "reader"), .to(\.notes, "notes"),
/// ]
/// ```
public protocol RelationshipValue: SendableMetatype {
  /// The type of the named entities.
  associatedtype Target: Entity

  /// The identifiers, in order.
  var relatedIdentifiers: [EntityIdentifier<Target>] { get }

  /// Replaces one identifier by another.
  ///
  /// - Parameters:
  ///   - old: The identifier to replace.
  ///   - new: The new identifier.
  mutating func replaceRelated(_ old: EntityIdentifier<Target>, with new: EntityIdentifier<Target>)
}

extension EntityIdentifier: RelationshipValue {
  /// The identifier itself.
  public var relatedIdentifiers: [EntityIdentifier<E>] { [self] }

  /// Becomes the new identifier if it equals the old one.
  ///
  /// - Parameters:
  ///   - old: The identifier to replace.
  ///   - new: The new identifier.
  public mutating func replaceRelated(_ old: EntityIdentifier, with new: EntityIdentifier) {
    if self == old { self = new }
  }
}

extension Optional: RelationshipValue where Wrapped: RelationshipValue {
  /// The identifiers of the value, if there is one.
  public var relatedIdentifiers: [EntityIdentifier<Wrapped.Target>] {
    self?.relatedIdentifiers ?? []
  }

  /// Replaces an identifier in the value, if there is one.
  ///
  /// - Parameters:
  ///   - old: The identifier to replace.
  ///   - new: The new identifier.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Wrapped.Target>, with new: EntityIdentifier<Wrapped.Target>
  ) { self?.replaceRelated(old, with: new) }
}

extension Array: RelationshipValue where Element: RelationshipValue {
  /// The identifiers of the elements, in order.
  public var relatedIdentifiers: [EntityIdentifier<Element.Target>] {
    flatMap(\.relatedIdentifiers)
  }

  /// Replaces an identifier in each element.
  ///
  /// - Parameters:
  ///   - old: The identifier to replace.
  ///   - new: The new identifier.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Element.Target>, with new: EntityIdentifier<Element.Target>
  ) {
    for index in indices { self[index].replaceRelated(old, with: new) }
  }
}

extension Lazy: RelationshipValue where Value: RelationshipValue {
  /// The identifiers of the value, if it was requested.
  public var relatedIdentifiers: [EntityIdentifier<Value.Target>] {
    value?.relatedIdentifiers ?? []
  }

  /// Replaces an identifier in the value, if it was requested.
  ///
  /// - Parameters:
  ///   - old: The identifier to replace.
  ///   - new: The new identifier.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Value.Target>, with new: EntityIdentifier<Value.Target>
  ) {
    guard case .requested(var value) = self else { return }
    value.replaceRelated(old, with: new)
    self = .requested(value)
  }
}
