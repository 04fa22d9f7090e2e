import Locking
import ModelCore
package import StoreEngine

/// A field as filters, orders and groups name it: by its key path, or for tools by its name.
public struct QueryField<E: Entity>: Sendable {
  package let keyPath: any PartialKeyPath<E> & Sendable
  /// The key under which it is coded; `nil` for a key path that is not among the declared fields.
  package let name: String?
  /// What values it can have.
  package let kinds: Set<QueryValue.Kind>
  package let value: @Sendable (E) -> QueryValue
  /// Whether this is the entity's identifier.
  package let isIdentifier: Bool

  package init<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, name: String?
  ) {
    self.keyPath = keyPath
    self.name = name
    kinds = Value.queryKinds
    value = { $0[keyPath: keyPath].queryValue }
    isIdentifier = Self.isIdentifier(keyPath, name)
  }

  /// A field by its key path; one that is not declared is looked at in the decoded entity.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  public init<Value: QueryRepresentable>(_ keyPath: any KeyPath<E, Value> & Sendable) {
    let declared = E.fields.first { $0.reference.keyPath == keyPath }
    self.init(keyPath, name: declared?.name)
  }

  /// A field by its name.
  ///
  /// - Parameter name: The name of a declared field, or `id`.
  /// - Throws: ``QueryError`` `unknownField`.
  public init(named name: String) throws(QueryError) {
    if let declared = E.fields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      self = declared.reference
    } else if name == "id" {
      self.init(\E.id)
    } else {
      let known = E.fields.map(\.name).sorted().joined(separator: ", ")
      throw QueryError(
        .unknownField, name,
        "\(E.modelTypeName) declares no such field; it has id\(known.isEmpty ? "" : ", " + known)")
    }
  }

  /// A field by its key path.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> QueryField { QueryField(keyPath) }

  /// Whether a key path leads to the entity's identifier.
  ///
  /// One that was written for the type itself differs from the one to the protocol's requirement; it
  /// says its name. A computed identifier is known where it is declared as the field `id`.
  private static func isIdentifier<Value>(_ keyPath: KeyPath<E, Value>, _ name: String?) -> Bool {
    guard Value.self == EntityIdentifier<E>.self else { return false }
    return IdentifierPaths.known.withLock { known in
      if let isIdentifier = known[keyPath] { return isIdentifier }
      let isIdentifier =
        keyPath == \E.id || name == "id" || "\(keyPath)" == "\\\(E.self).id"
      known[keyPath] = isIdentifier
      return isIdentifier
    }
  }

  /// How errors and plans call the field.
  package var label: String { name ?? (isIdentifier ? "id" : "\(keyPath)") }
}

extension QueryField: Hashable {
  /// Whether both lead to the same place.
  ///
  /// - Parameters:
  ///   - left: A field.
  ///   - right: A field.
  /// - Returns: Whether the key paths are equal, or both lead to the identifier.
  public static func == (left: QueryField, right: QueryField) -> Bool {
    left.keyPath == right.keyPath || left.isIdentifier && right.isIdentifier
  }

  /// Feeds the key path to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    if isIdentifier { hasher.combine(true) } else { hasher.combine(keyPath) }
  }
}

/// Which key paths to identifiers of entities lead to the entity's own; to ask a key path for its name
/// takes as long as a query.
private enum IdentifierPaths {
  static let known = Locked<[AnyKeyPath: Bool]>([:])
}
