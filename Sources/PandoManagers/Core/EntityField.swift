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
/// Without a name it is that of the property. A key path can lead through children, whose records are
/// then looked at, too; an index follows when they change: `.indexed(\.author.name)`. ``QueryField`` names
/// a child itself, and each element of a list.
public struct EntityField<E: Queryable>: Sendable {
  /// The key under which the field is coded.
  public let name: String

  /// Whether the store keeps an index of it.
  public let isIndexed: Bool

  /// What values it can have.
  public var kinds: Set<QueryValue.Kind> { reference.kinds }

  package let reference: QueryField<E>

  /// Where the value is in a record.
  var path: FieldPath { reference.path ?? FieldPath(name) }

  /// A field that filters can name.
  ///
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - name: The key under which it is coded, with dots where it lies in objects; that of the property
  ///     unless given. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> EntityField { EntityField(QueryField(undeclared: keyPath), name, isIndexed: false) }

  /// A field that filters can name and that the store keeps an index of.
  ///
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - name: The key under which it is coded, with dots where it lies in objects; that of the property
  ///     unless given. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func indexed<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> EntityField { EntityField(QueryField(undeclared: keyPath), name, isIndexed: true) }

  /// A field that filters can name: a child, or each element of a list.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - name: Where it is coded, as in `labels[].name`; by the names of the properties unless given.
  /// - Returns: The field.
  public static func field(_ field: QueryField<E>, _ name: String? = nil) -> EntityField {
    EntityField(field, name, isIndexed: false)
  }

  /// A field that filters can name and that the store keeps an index of: a child, or each element of a
  /// list.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - name: Where it is coded, as in `labels[].name`; by the names of the properties unless given.
  /// - Returns: The field.
  public static func indexed(_ field: QueryField<E>, _ name: String? = nil) -> EntityField {
    EntityField(field, name, isIndexed: true)
  }

  private init(_ field: QueryField<E>, _ given: String?, isIndexed: Bool) {
    name = given ?? field.propertyNames
    self.isIndexed = isIndexed
    reference = field.declared(as: name)
  }

  /// The value of the field.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Its value.
  public func value(of entity: E) -> QueryValue { reference.value(entity) }
}

/// The names of the stored properties along a key path, which synthesized coding writes.
package enum PropertyNames {
  /// Returns them, joined by dots.
  ///
  /// - Parameters:
  ///   - keyPath: A key path over stored properties; optionals on the way have no name.
  ///   - type: The type that it begins at.
  /// - Returns: The names.
  package static func along(_ keyPath: AnyKeyPath, of type: Any.Type) -> String {
    let text = "\(keyPath)"
    let start = "\\\(type)"
    precondition(
      text.hasPrefix(start) && !text.contains("<computed") && !text.contains("<offset"),
      "\(text) leads through something that is not a stored property; give the name under which it "
        + "is coded")
    let names = text.dropFirst(start.count).filter { $0 != "?" && $0 != "!" }
    return names.hasPrefix(".") ? String(names.dropFirst()) : names
  }
}

extension PropertyNames {
  /// Returns them one by one; `nil` if the key path leads through something that is not stored.
  static func stored(along keyPath: AnyKeyPath, of type: Any.Type) -> [String]? {
    let text = "\(keyPath)"
    let start = "\\\(type)"
    guard text.hasPrefix(start), !text.contains("<") || start.contains("<") else { return nil }
    let names = text.dropFirst(start.count)
    if names.contains("<") { return nil }
    return names.split { $0 == "." || $0 == "?" || $0 == "!" }.map(String.init)
  }
}

extension Queryable {
  /// The name under which what a key path leads to is coded, as the type declares it; `nil` if it does
  /// not.
  ///
  /// - Parameter keyPath: A key path of the type.
  /// - Returns: The name.
  package static func declaredName(of keyPath: AnyKeyPath) -> String? {
    fields.first { $0.reference.keyPath == keyPath && !$0.reference.namesSeveral }?.name
  }
}
