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

  /// The type of the entities that are held.
  public let target: any Entity.Type

  package let keyPath: any PartialKeyPath<E> & Sendable
  /// The identifiers of the nodes that an entity holds here, in order.
  package let modelIdentifiers: @Sendable (E) -> [String]
  /// Puts one identifier of a node in the place of another.
  package let replacing: @Sendable (inout E, _ old: String, _ new: String) -> Void

  /// A field that holds one identifier, an optional one, or several.
  ///
  /// - Parameters:
  ///   - keyPath: Where the identifiers are in the entity; they can be replaced there when a server
  ///     gives an entity its own identifier.
  ///   - name: The key under which they are coded.
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

  /// The identifiers that an entity holds here.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: The identifiers of the nodes, in order.
  public func relatedIdentifiers(of entity: E) -> [String] { modelIdentifiers(entity) }
}

/// What a relationship can be declared of: an identifier, an optional or lazy one, or a list.
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
  /// The type of the entities that are named.
  associatedtype Target: Entity

  /// The identifiers, in order.
  var relatedIdentifiers: [EntityIdentifier<Target>] { get }

  /// Puts one identifier in the place of another.
  ///
  /// - Parameters:
  ///   - old: The identifier that goes.
  ///   - new: The identifier that comes.
  mutating func replaceRelated(_ old: EntityIdentifier<Target>, with new: EntityIdentifier<Target>)
}

extension EntityIdentifier: RelationshipValue {
  /// This one.
  public var relatedIdentifiers: [EntityIdentifier<E>] { [self] }

  /// Becomes another identifier if it is the old one.
  ///
  /// - Parameters:
  ///   - old: The identifier that goes.
  ///   - new: The identifier that comes.
  public mutating func replaceRelated(_ old: EntityIdentifier, with new: EntityIdentifier) {
    if self == old { self = new }
  }
}

extension Optional: RelationshipValue where Wrapped: RelationshipValue {
  /// Those of the value, if there is one.
  public var relatedIdentifiers: [EntityIdentifier<Wrapped.Target>] {
    self?.relatedIdentifiers ?? []
  }

  /// Replaces in the value, if there is one.
  ///
  /// - Parameters:
  ///   - old: The identifier that goes.
  ///   - new: The identifier that comes.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Wrapped.Target>, with new: EntityIdentifier<Wrapped.Target>
  ) { self?.replaceRelated(old, with: new) }
}

extension Array: RelationshipValue where Element: RelationshipValue {
  /// Those of the elements, in order.
  public var relatedIdentifiers: [EntityIdentifier<Element.Target>] {
    flatMap(\.relatedIdentifiers)
  }

  /// Replaces in every element.
  ///
  /// - Parameters:
  ///   - old: The identifier that goes.
  ///   - new: The identifier that comes.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Element.Target>, with new: EntityIdentifier<Element.Target>
  ) {
    for index in indices { self[index].replaceRelated(old, with: new) }
  }
}

extension Lazy: RelationshipValue where Value: RelationshipValue {
  /// Those of the value, if it was requested.
  public var relatedIdentifiers: [EntityIdentifier<Value.Target>] {
    value?.relatedIdentifiers ?? []
  }

  /// Replaces in the value, if it was requested.
  ///
  /// - Parameters:
  ///   - old: The identifier that goes.
  ///   - new: The identifier that comes.
  public mutating func replaceRelated(
    _ old: EntityIdentifier<Value.Target>, with new: EntityIdentifier<Value.Target>
  ) {
    guard case .requested(var value) = self else { return }
    value.replaceRelated(old, with: new)
    self = .requested(value)
  }
}
