public import PandoModels

/// The fields of a model in the making; `@Model` generates its use.
///
/// ```swift
/// static let fields: [Field<Person>] = {
///   var fields = FieldList<Person>()
///   fields.add(\.id, "id")
///   fields.add(\.name, "name", isIndexed: true)
///   fields.add(\.address, "address")  // each field of the address
///   return fields.all
/// }()
/// ```
///
/// A property of a type that filters can't compare adds no field.
///
/// - Note: A value; one thread at a time changes it.
public struct FieldList<E: Queryable> {
  /// The fields so far.
  public private(set) var all: [Field<E>] = []

  /// Makes an empty list.
  public init() {}

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Value: QueryRepresentable>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all.append(.field(QueryField(undeclared: property), name, isIndexed: isIndexed))
  }

  /// Adds the identifier of a child.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, Child> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all.append(.field(.child(property), name, isIndexed: isIndexed))
  }

  /// Adds the identifier of an optional child.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, Child?> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all.append(.field(.child(property), name, isIndexed: isIndexed))
  }

  /// Adds the elements of a list.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Element: QueryRepresentable>(
    _ property: any KeyPath<E, [Element]> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all.append(.field(.each(property), name + "[]", isIndexed: isIndexed))
  }

  /// Adds the identifiers of the children in a list.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, [Child]> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all.append(.field(.each(property), name + "[]", isIndexed: isIndexed))
  }

  /// Adds the fields of an embedded value, one by one.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all += Value.embeddedFields.all.map { $0.inValue(property, name, isIndexed: isIndexed) }
  }

  /// Adds the fields of an optional embedded value, one by one.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, Value?> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all += Value.embeddedFields.all.map { $0.inOptional(property, name, isIndexed: isIndexed) }
  }

  /// Adds the fields of the embedded values in a list, one by one.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, [Value]> & Sendable, _ name: String, isIndexed: Bool = false
  ) {
    all += Value.embeddedFields.all.map { $0.inList(property, name, isIndexed: isIndexed) }
  }

  /// Adds nothing, because filters can't compare the property.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  @_disfavoredOverload
  public mutating func add<Value>(_ property: KeyPath<E, Value>, _ name: String) {}

  /// Does not compile.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  ///   - isIndexed: Whether it gets an index.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "@Indexed needs a value that filters can compare, a child, an @Embedded value, or a list of them"
  )
  public mutating func add<Value>(
    _ property: KeyPath<E, Value>, _ name: String, isIndexed: Bool
  ) {}
}

/// Fields of an index.
extension QueryField {
  /// A value, in an index of several fields.
  ///
  /// - Parameter property: The place of the value.
  /// - Returns: The field.
  public static func path<Value: QueryRepresentable>(
    _ property: any KeyPath<E, Value> & Sendable
  ) -> QueryField { .field(property) }

  /// A child, in an index of several fields.
  ///
  /// - Parameter property: The place of the child.
  /// - Returns: The field.
  public static func path<Child: Model>(
    _ property: any KeyPath<E, Child> & Sendable
  ) -> QueryField { .child(property) }

  /// An optional child, in an index of several fields.
  ///
  /// - Parameter property: The place of the child.
  /// - Returns: The field.
  public static func path<Child: Model>(
    _ property: any KeyPath<E, Child?> & Sendable
  ) -> QueryField { .child(property) }

  /// Each element of a list, in an index of several fields.
  ///
  /// - Parameter property: The place of the list.
  /// - Returns: The field.
  public static func path<Element: QueryRepresentable>(
    _ property: any KeyPath<E, [Element]> & Sendable
  ) -> QueryField { .each(property) }

  /// Each child in a list, in an index of several fields.
  ///
  /// - Parameter property: The place of the list.
  /// - Returns: The field.
  public static func path<Child: Model>(
    _ property: any KeyPath<E, [Child]> & Sendable
  ) -> QueryField { .each(property) }
}
