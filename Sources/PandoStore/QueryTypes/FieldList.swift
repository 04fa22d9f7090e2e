public import PandoModels

/// The fields of a model in the making; `@Model` generates its use.
///
/// ```swift
/// static let fields: [Field<Person>] = {
///   var fields = FieldList<Person>()
///   fields.add(\.id, "id")
///   fields.addIndexed(\.name, "name")
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
  public mutating func add<Value: QueryRepresentable>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String
  ) { all.append(.field(property, name)) }

  /// Adds a value, with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Value: QueryRepresentable>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String
  ) { all.append(.indexed(property, name)) }

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
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "@Indexed needs a value that filters can compare, a child, an @Embedded value, or a list of them"
  )
  public mutating func addIndexed<Value>(_ property: KeyPath<E, Value>, _ name: String) {}
}

/// Children.
extension FieldList {
  /// Adds the identifier of a child.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, Child> & Sendable, _ name: String
  ) { all.append(.field(.child(property), name)) }

  /// Adds the identifier of an optional child.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, Child?> & Sendable, _ name: String
  ) { all.append(.field(.child(property), name)) }

  /// Adds the identifier of a child, with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Child: Model>(
    _ property: any KeyPath<E, Child> & Sendable, _ name: String
  ) { all.append(.indexed(.child(property), name)) }

  /// Adds the identifier of an optional child, with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Child: Model>(
    _ property: any KeyPath<E, Child?> & Sendable, _ name: String
  ) { all.append(.indexed(.child(property), name)) }
}

/// Lists, of which a filter matches each element.
extension FieldList {
  /// Adds the elements of a list.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Element: QueryRepresentable>(
    _ property: any KeyPath<E, [Element]> & Sendable, _ name: String
  ) { all.append(.field(.each(property), name + "[]")) }

  /// Adds the identifiers of the children in a list.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Child: Model>(
    _ property: any KeyPath<E, [Child]> & Sendable, _ name: String
  ) { all.append(.field(.each(property), name + "[]")) }

  /// Adds the elements of a list, with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Element: QueryRepresentable>(
    _ property: any KeyPath<E, [Element]> & Sendable, _ name: String
  ) { all.append(.indexed(.each(property), name + "[]")) }

  /// Adds the identifiers of the children in a list, with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Child: Model>(
    _ property: any KeyPath<E, [Child]> & Sendable, _ name: String
  ) { all.append(.indexed(.each(property), name + "[]")) }
}

/// Embedded values, whose fields are added one by one.
extension FieldList {
  /// Adds the fields of an embedded value.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String
  ) {
    for field in Value.embeddedFields.all {
      all.append(field.inValue(property, name, isIndexed: false))
    }
  }

  /// Adds the fields of an optional embedded value.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, Value?> & Sendable, _ name: String
  ) {
    for field in Value.embeddedFields.all {
      all.append(field.inOptional(property, name, isIndexed: false))
    }
  }

  /// Adds the fields of the embedded values in a list.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func add<Value: Embedded>(
    _ property: any KeyPath<E, [Value]> & Sendable, _ name: String
  ) {
    for field in Value.embeddedFields.all {
      all.append(field.inList(property, name, isIndexed: false))
    }
  }
}

extension FieldList {
  /// Adds the fields of an embedded value, each with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Value: Embedded>(
    _ property: any KeyPath<E, Value> & Sendable, _ name: String
  ) { all += Value.embeddedFields.all.map { $0.inValue(property, name, isIndexed: true) } }

  /// Adds the fields of an optional embedded value, each with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Value: Embedded>(
    _ property: any KeyPath<E, Value?> & Sendable, _ name: String
  ) { all += Value.embeddedFields.all.map { $0.inOptional(property, name, isIndexed: true) } }

  /// Adds the fields of the embedded values in a list, each with an index.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - name: The name under which it is coded.
  public mutating func addIndexed<Value: Embedded>(
    _ property: any KeyPath<E, [Value]> & Sendable, _ name: String
  ) { all += Value.embeddedFields.all.map { $0.inList(property, name, isIndexed: true) } }
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
