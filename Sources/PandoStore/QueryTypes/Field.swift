/// A declared field: filters can name it, and an index can contain it.
///
/// ```swift
/// static let fields: [Field<Issue>] = [
///   .indexed(\.title),  // coded as "title"
///   .field(\.address?.city),  // coded as "city" inside "address"
///   .indexed(\.dueDate, "due"),  // CodingKeys has: case dueDate = "due"
/// ]
/// ```
/// The default name is that of the property. A key path can lead through children, as in
/// `.indexed(\.author.name)`: queries read their records, and the index follows their changes. ``QueryField``
/// describes how to name a child itself, or each element of a list.
public struct Field<E: Queryable>: Sendable {
  /// The key under which the field is coded.
  public let name: String

  /// Whether the store has an index of it.
  public let isIndexed: Bool

  /// The kinds of its values.
  public var kinds: Set<QueryValue.Kind> { reference.kinds }

  package let reference: QueryField<E>

  /// The place of the value in a record.
  var path: FieldPath { reference.path ?? FieldPath(name) }

  /// A field for filters.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the value in the entity.
  ///   - name: The key under which it is coded, with dots for nested objects; that of the property by
  ///     default. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> Field { Field(QueryField(undeclared: keyPath), name, isIndexed: false) }

  /// A field for filters, with an index.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the value in the entity.
  ///   - name: The key under which it is coded, with dots for nested objects; that of the property by
  ///     default. *Precondition:* it is given for a computed property.
  /// - Returns: The field.
  public static func indexed<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ name: String? = nil
  ) -> Field { Field(QueryField(undeclared: keyPath), name, isIndexed: true) }

  /// A field for filters: a child, or each element of a list.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - name: The coded path, as `labels[].name`; the names of the properties by default.
  /// - Returns: The field.
  public static func field(_ field: QueryField<E>, _ name: String? = nil) -> Field {
    Field(field, name, isIndexed: false)
  }

  /// A field for filters, with an index: a child, or each element of a list.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - name: The coded path, as `labels[].name`; the names of the properties by default.
  /// - Returns: The field.
  public static func indexed(_ field: QueryField<E>, _ name: String? = nil) -> Field {
    Field(field, name, isIndexed: true)
  }

  static func field(_ field: QueryField<E>, _ name: String, isIndexed: Bool) -> Field {
    Field(field, name, isIndexed: isIndexed)
  }

  private init(_ field: QueryField<E>, _ given: String?, isIndexed: Bool) {
    reference = field.declared(as: given ?? field.propertyNames)
    name = reference.name ?? ""
    self.isIndexed = isIndexed
  }

  /// The value of the field.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Its value.
  public func value(of entity: E) -> QueryValue { reference.value(entity) }
}

/// The names of the stored properties along a key path, which synthesized coding writes.
package enum PropertyNames {
  /// Returns the names, joined by dots.
  ///
  /// - Parameters:
  ///   - keyPath: A key path over stored properties; optionals on the way have no name.
  ///   - type: The root type of the key path.
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
  /// Returns the names; `nil` if the key path has other parts than stored properties.
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
  /// The declared name of a key path; `nil` if it is not declared.
  ///
  /// - Parameter keyPath: A key path of the type.
  /// - Returns: The name.
  package static func declaredName(of keyPath: AnyKeyPath) -> String? {
    fields.first {
      $0.reference.keyPath == keyPath && !$0.reference.namesSeveral && !$0.reference.isFolded
    }?.name
  }
}
