public import PandoStore

/// A field of an entity that filters can name, and that an index can be made of.
///
/// ```swift
/// static let fields: [EntityField<Issue>] = [
///   .indexed(\.title),  // coded as "title"
///   .field(\.address?.city),  // coded as "city" inside "address"
///   .indexed(\.dueDate, "due"),  // CodingKeys has: case dueDate = "due"
/// ]
/// ```
/// Without a name it is that of the property. A field of a child that has an identifier can't be
/// declared: it lies in the child's own record.
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
  ///   - name: The key under which it is coded, with dots where it lies in objects; that of the property
  ///     unless given. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> EntityField { EntityField(keyPath, name, isIndexed: false) }

  /// A field that filters can name and that the store keeps an index of.
  ///
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - name: The key under which it is coded, with dots where it lies in objects; that of the property
  ///     unless given. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func indexed<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> EntityField { EntityField(keyPath, name, isIndexed: true) }

  private init<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ given: String?, isIndexed: Bool
  ) {
    name = given ?? Self.name(of: keyPath)
    self.isIndexed = isIndexed
    reference = QueryField(keyPath, name: name)
  }

  /// The names of the stored properties that a key path leads through, which Swift keeps for reflection.
  private static func name(of keyPath: AnyKeyPath) -> String {
    let text = "\(keyPath)"
    let start = "\\\(E.self)."
    precondition(
      text.hasPrefix(start) && !text.contains("<computed") && !text.contains("<offset"),
      "\(text) leads through something that is not a stored property; give the name under which it "
        + "is coded")
    return text.dropFirst(start.count).filter { $0 != "?" && $0 != "!" }
  }

  /// The value of the field.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Its value.
  public func value(of entity: E) -> QueryValue { reference.value(entity) }
}
