public import PandoModels

/// A model that queries can find, order, count and follow.
///
/// `@Model` makes a struct conform, and every `Entity` conforms. Another model declares its fields:
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {
///   var name: String
///   var modelIdentifier: String? { name }
///   static let fields: [Field<Person>] = [.indexed(\.name)]
/// }
/// let named = try store.read { try $0.find(Query(filter: \Person.name ~= "^A")) }
/// ```
/// `ModelStore(path:models:)` and `ModelStore.addIndexes(of:)` make the declared indexes. A container makes those of
/// its entities. ``Filter/identifiers(_:)`` finds nodes by their identifiers.
public protocol Queryable: Model, Codable, Equatable, FieldDeclaring {
  /// The fields for filters and indexes; none by default.
  ///
  /// Pando compares them with the coding. A wrong name is a `ModelError` `misdeclaredField`. Writes throw it before
  /// they store anything, and so do queries that use the field.
  static var fields: [Field<Self>] { get }

  /// The indexes of several fields, and the unique ones; none by default.
  static var indexes: [FieldIndex<Self>] { get }

  /// The type of the identifiers in the field `id`; `nil` for a type whose nodes have plain texts.
  ///
  /// Every `Entity` has its `EntityIdentifier`. Other types do not declare it.
  static var identifierType: (any QueryRepresentable.Type)? { get }

  /// The text before the colon in the identifiers of all nodes of the type: `Book` of `Book:7`.
  ///
  /// Types with one namespace show the same nodes: queries of a type also find the nodes that were written as another
  /// type, if these have the fields that the type requires. `@Model` generates it from the name of the type. Without
  /// `@Model` it is `nil`, except for an entity.
  static var nodeNamespace: String? { get }
}

extension Queryable {
  /// No fields.
  public static var fields: [Field<Self>] { [] }

  /// The declared fields, with what instances have proven about them.
  public static var declaredFields: DeclaredFields {
    DeclaredFields.of(Self.self) { fields.compactMap(\.reference.declared) }
  }

  /// No indexes.
  public static var indexes: [FieldIndex<Self>] { [] }

  /// None.
  public static var identifierType: (any QueryRepresentable.Type)? { nil }

  /// The namespace of the typed identifiers; `nil` if there are none.
  public static var nodeNamespace: String? { typedIdentifier?.namespace }

  /// Compares by `==`.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  public func isEqual(to other: any SimpleModel) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}

extension Queryable {
  /// Whether both are values of one node.
  func isSameNode(as other: Self) -> Bool {
    guard let identifier = modelIdentifier, let other = other.modelIdentifier else { return false }
    return identifier.hasSameBytes(as: other)
  }
}

/// The typed identifiers of a type, for code that is generic over queryable types.
extension Queryable {
  /// The typed identifier; `nil` if nodes of the type have plain texts.
  static var typedIdentifier: (any TypedIdentifier.Type)? {
    guard let type = identifierType else { return nil }
    return type as? any TypedIdentifier.Type
  }

  /// The identifier of the node with a value of ``QueryField/identifier``.
  static func nodeIdentifier(of value: QueryValue) -> String? {
    if let type = typedIdentifier { return type.nodeIdentifier(of: value) }
    if case .string(let identifier) = value { return identifier }
    return nil
  }

  /// The value of ``QueryField/identifier`` of a node.
  static func identifierValue(of identifier: String) -> QueryValue? {
    if let type = typedIdentifier { return type.value(ofNode: identifier) }
    return .string(identifier)
  }
}
