public import PandoModels
public import PandoStore

/// A model whose stored values queries find, order, count and follow.
///
/// Every ``Entity`` is one. A model that has no typed identifier becomes one by a line:
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {
///   var name: String
///   var modelIdentifier: String? { name }
///   static let fields: [EntityField<Person>] = [.indexed(\.name)]
/// }
/// let named = try store.read { try $0.entities(matching: Query(filter: \Person.name ~= "^A")) }
/// ```
/// Indexes that it declares are made by `ModelStore.addIndexes(of:)`; a container makes those of its
/// entities. ``Filter/identifiers(_:)`` asks for nodes by their identifiers.
public protocol Queryable: Model, Codable, Equatable, FieldDeclaring {
  /// The fields that filters can name and that indexes can be made of; none unless declared.
  ///
  /// What is declared is compared with what the coding writes; a mistake is a `ModelError`
  /// `misdeclaredField`, thrown before anything is stored, and by queries that speak of the field.
  static var fields: [EntityField<Self>] { get }

  /// The indexes of several fields together, and those that allow each value once; none unless declared.
  static var indexes: [EntityIndex<Self>] { get }
}

extension Queryable {
  /// None.
  public static var fields: [EntityField<Self>] { [] }

  /// What ``fields`` says, and what instances have said of it.
  public static var declaredFields: DeclaredFields {
    DeclaredFields.of(Self.self) { fields.compactMap(\.reference.declared) }
  }

  /// None.
  public static var indexes: [EntityIndex<Self>] { [] }

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
  /// Whether both are of one node.
  func isSameNode(as other: Self) -> Bool {
    guard let identifier = modelIdentifier, let other = other.modelIdentifier else { return false }
    return identifier.hasSameBytes(as: other)
  }
}

/// What an entity type adds, for code that knows only that a type is queryable.
extension Queryable {
  /// What the identifiers of nodes begin with; `nil` if they may begin with anything.
  static var nodeNamespace: String? { (self as? any Entity.Type)?.identifierNamespace }

  /// The identifier of the node that a value of ``QueryField/identifier`` names.
  static func nodeIdentifier(of value: QueryValue) -> String? {
    if let type = self as? any Entity.Type { return type.nodeIdentifier(ofKey: value) }
    if case .string(let identifier) = value { return identifier }
    return nil
  }

  /// The value of ``QueryField/identifier`` that names a node.
  static func identifierValue(of identifier: String) -> QueryValue? {
    if let type = self as? any Entity.Type { return type.keyValue(of: identifier) }
    return .string(identifier)
  }
}

extension Entity {
  fileprivate static func nodeIdentifier(ofKey value: QueryValue) -> String? {
    EntityIdentifier<Self>(value)?.modelIdentifier
  }

  fileprivate static func keyValue(of identifier: String) -> QueryValue? {
    EntityIdentifier<Self>(modelIdentifier: identifier)?.queryValue
  }

  /// Whether a key path leads to ``id``, as far as its type says.
  static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool { keyPath == \Self.id }

  /// The type of ``id``.
  static var identifierType: any Any.Type { EntityIdentifier<Self>.self }

  /// The field ``id``, for code that does not know that the type is an entity.
  static var identifierField: any Sendable { QueryField(\Self.id) }

  /// The namespace, if every text is a key.
  static var textNamespace: String? { RemoteID.self == String.self ? identifierNamespace : nil }
}
