public import PandoModels

/// A value inside a model whose fields can be queried; `@Embedded` makes a type one.
///
/// ```swift
/// @Embedded struct Address {
///   var street: String
///   var city: String
/// }
/// @Model struct Customer {
///   @Key var id: Int
///   var address: Address
/// }
/// let inUlm = Query(filter: \Customer.address.city == "Ulm")
/// ```
///
/// - Note: Any thread.
public protocol Embedded: Codable, Equatable, Sendable, FieldHistory {
  /// The fields of the value.
  static var embeddedFields: EmbeddedFields<Self> { get }
}

/// The fields of an embedded value; `@Embedded` generates its use.
///
/// ```swift
/// static let embeddedFields: EmbeddedFields<Address> = {
///   var fields = EmbeddedFields<Address>()
///   fields.add(\.city, optional: \.?.city, "city")
///   return fields
/// }()
/// ```
///
/// A property of a type that filters can't compare adds no field.
public struct EmbeddedFields<Value: Embedded>: Sendable {
  private(set) var all: [any EmbeddedField<Value>] = []

  /// Makes an empty list.
  public init() {}

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - property: Its place.
  ///   - optional: Its place in an optional embedded value.
  ///   - name: The name under which it is coded.
  public mutating func add<Leaf: QueryRepresentable, OptionalLeaf: QueryRepresentable>(
    _ property: any KeyPath<Value, Leaf> & Sendable,
    optional: any KeyPath<Value?, OptionalLeaf> & Sendable, _ name: String
  ) { all.append(EmbeddedLeaf(property: property, optional: optional, name: name)) }

  /// Adds the fields of an embedded value inside this one.
  ///
  /// - Parameters:
  ///   - property: Its place.
  ///   - optional: Its place in an optional embedded value.
  ///   - name: The name under which it is coded.
  public mutating func add<Inner: Embedded>(
    _ property: any KeyPath<Value, Inner> & Sendable,
    optional: any KeyPath<Value?, Inner?> & Sendable, _ name: String
  ) {
    for field in Inner.embeddedFields.all {
      all.append(field.nested(property, optional: optional, name))
    }
  }

  /// Adds nothing, because filters can't compare the property.
  ///
  /// - Parameters:
  ///   - property: Its place.
  ///   - optional: Its place in an optional embedded value.
  ///   - name: The name under which it is coded.
  @_disfavoredOverload
  public mutating func add<Leaf, OptionalLeaf>(
    _ property: KeyPath<Value, Leaf>, optional: KeyPath<Value?, OptionalLeaf>, _ name: String
  ) {}
}

/// A field of an embedded value, as a field of what contains the value.
protocol EmbeddedField<Value>: Sendable {
  associatedtype Value: Embedded

  func inValue<E: Queryable>(
    _ place: any KeyPath<E, Value> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E>
  func inOptional<E: Queryable>(
    _ place: any KeyPath<E, Value?> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E>
  func inList<E: Queryable>(
    _ place: any KeyPath<E, [Value]> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E>
  func nested<Outer: Embedded>(
    _ place: any KeyPath<Outer, Value> & Sendable,
    optional: any KeyPath<Outer?, Value?> & Sendable, _ prefix: String
  ) -> any EmbeddedField<Outer>
}

private struct EmbeddedLeaf<
  Value: Embedded, Leaf: QueryRepresentable, OptionalLeaf: QueryRepresentable
>: EmbeddedField {
  let property: any KeyPath<Value, Leaf> & Sendable
  let optional: any KeyPath<Value?, OptionalLeaf> & Sendable
  let name: String

  func inValue<E: Queryable>(
    _ place: any KeyPath<E, Value> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E> {
    .field(
      QueryField(undeclared: joined(place, property)), "\(prefix).\(name)", isIndexed: isIndexed)
  }

  func inOptional<E: Queryable>(
    _ place: any KeyPath<E, Value?> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E> {
    .field(
      QueryField(undeclared: joined(place, optional)), "\(prefix).\(name)", isIndexed: isIndexed)
  }

  func inList<E: Queryable>(
    _ place: any KeyPath<E, [Value]> & Sendable, _ prefix: String, isIndexed: Bool
  ) -> Field<E> { .field(.each(place, property), "\(prefix)[].\(name)", isIndexed: isIndexed) }

  func nested<Outer: Embedded>(
    _ place: any KeyPath<Outer, Value> & Sendable,
    optional outer: any KeyPath<Outer?, Value?> & Sendable, _ prefix: String
  ) -> any EmbeddedField<Outer> {
    EmbeddedLeaf<Outer, Leaf, OptionalLeaf>(
      property: joined(place, property), optional: joined(outer, optional),
      name: "\(prefix).\(name)")
  }
}

/// Joins two key paths that are free of captured values, so that the result is, too.
private func joined<Root, Middle, End>(
  _ first: any KeyPath<Root, Middle> & Sendable, _ second: any KeyPath<Middle, End> & Sendable
) -> any KeyPath<Root, End> & Sendable {
  // A key path is immutable; it is not Sendable only if it has captured a subscript's argument.
  let path: KeyPath<Root, End> = first.appending(path: second)
  return unsafe unsafeBitCast(path, to: (any KeyPath<Root, End> & Sendable).self)
}
