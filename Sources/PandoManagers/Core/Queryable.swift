public import PandoModels
public import PandoStore

/// A model that queries can find, order, count and follow.
///
/// Each ``Entity`` conforms. A model without a typed identifier conforms with one line:
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {
///   var name: String
///   var modelIdentifier: String? { name }
///   static let fields: [EntityField<Person>] = [.indexed(\.name)]
/// }
/// let named = try store.read { try $0.entities(matching: Query(filter: \Person.name ~= "^A")) }
/// ```
/// `ModelStore.addIndexes(of:)` makes the declared indexes; a container does that for its entities.
/// ``Filter/identifiers(_:)`` finds nodes by their identifiers.
public protocol Queryable: Model, Codable, Equatable, FieldDeclaring {
  /// The fields for filters and indexes; none by default.
  ///
  /// Pando compares them with the coding. A mistake is a `ModelError` `misdeclaredField`, thrown before
  /// anything is stored, and by queries that use the field.
  static var fields: [EntityField<Self>] { get }

  /// The indexes of several fields, and the unique ones; none by default.
  static var indexes: [EntityIndex<Self>] { get }
}

extension Queryable {
  /// No fields.
  public static var fields: [EntityField<Self>] { [] }

  /// The declared fields, with what instances have proven about them.
  public static var declaredFields: DeclaredFields {
    DeclaredFields.of(Self.self) { fields.compactMap(\.reference.declared) }
  }

  /// No indexes.
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
  /// Whether both are values of one node.
  func isSameNode(as other: Self) -> Bool {
    guard let identifier = modelIdentifier, let other = other.modelIdentifier else { return false }
    return identifier.hasSameBytes(as: other)
  }
}

// MARK: - Properties of entity types, for code that is generic over queryable types
extension Queryable {
  /// The prefix of the nodes' identifiers; `nil` for any identifier.
  static var nodeNamespace: String? { (self as? any Entity.Type)?.identifierNamespace }

  /// The node identifier of a value of ``QueryField/identifier``.
  static func nodeIdentifier(of value: QueryValue) -> String? {
    if let type = self as? any Entity.Type { return type.nodeIdentifier(ofKey: value) }
    if case .string(let identifier) = value { return identifier }
    return nil
  }

  /// The value of ``QueryField/identifier`` for a node identifier.
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

  /// Whether a key path equals that to ``id``.
  static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool { keyPath == \Self.id }

  /// The type of ``id``.
  static var identifierType: any Any.Type { EntityIdentifier<Self>.self }

  /// The field ``id``, for code that is generic over queryable types.
  static var identifierField: any Sendable { QueryField(\Self.id) }

  /// The namespace, if each text is a key.
  static var textNamespace: String? { RemoteID.self == String.self ? identifierNamespace : nil }
}
