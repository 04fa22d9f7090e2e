public import PandoStore

/// A field of an entity that filters can name, and that an index can be made of.
public struct EntityField<E: Entity>: Sendable {
  /// The key under which the field is coded.
  public let name: String

  /// Whether the store keeps an index of it.
  public let isIndexed: Bool

  /// What values it can have.
  public var kinds: Set<QueryValue.Kind> { reference.kinds }

  package let reference: QueryField<E>

  /// A field that filters can name.
  ///
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - name: The key under which it is coded.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String
  ) -> EntityField {
    EntityField(name: name, isIndexed: false, reference: QueryField(keyPath, name: name))
  }

  /// A field that filters can name and that the store keeps an index of.
  ///
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - name: The key under which it is coded.
  /// - Returns: The field.
  public static func indexed<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String
  ) -> EntityField {
    EntityField(name: name, isIndexed: true, reference: QueryField(keyPath, name: name))
  }

  /// The value of the field.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Its value.
  public func value(of entity: E) -> QueryValue { reference.value(entity) }
}
