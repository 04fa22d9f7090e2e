import Locking
import ModelCore
package import StoreEngine

/// A field as filters, orders and groups name it: by its key path, or for tools by its name.
public struct QueryField<E: Entity>: Sendable {
  package let keyPath: any PartialKeyPath<E> & Sendable
  /// The key under which it is coded; `nil` for a key path that is not among the declared fields.
  package let name: String?
  /// What values it can have.
  package var kinds: Set<QueryValue.Kind> { makeKinds() }
  package let value: @Sendable (E) -> QueryValue
  /// Whether this is the entity's identifier.
  package let isIdentifier: Bool
  /// Made when they are asked for, which most queries never do.
  private let makeKinds: @Sendable () -> Set<QueryValue.Kind>

  package init<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, name: String?
  ) {
    self.keyPath = keyPath
    self.name = name
    makeKinds = { Value.queryKinds }
    value = { $0[keyPath: keyPath].queryValue }
    isIdentifier =
      Value.self == EntityIdentifier<E>.self && IdentifierPaths.contain(keyPath, named: name)
  }

  /// A field by its key path; one that is not declared is looked at in the decoded entity.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  public init<Value: QueryRepresentable>(_ keyPath: any KeyPath<E, Value> & Sendable) {
    self.init(keyPath, name: E.fields.first { $0.reference.keyPath == keyPath }?.name)
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

/// Which key paths to identifiers of entities lead to the entity's own.
///
/// A key path that was written for the type itself differs from the one to the protocol's requirement,
/// but says its name; to ask for it takes as long as a query, so the answers are remembered. A computed
/// identifier is known where it is declared as the field `id`.
private enum IdentifierPaths {
  /// How many answers are kept: a program has few such places, unless it makes key paths as it goes.
  private static let countMaximum = 1000

  /// Each key path is kept, so that no other takes its place in memory.
  private static let known = Locked<[ObjectIdentifier: (path: AnyKeyPath, isOwn: Bool)]>([:])

  static func contain<E: Entity>(_ keyPath: PartialKeyPath<E>, named name: String?) -> Bool {
    if name == "id" { return true }
    let identity = ObjectIdentifier(keyPath)
    if let answer = known.withLock({ $0[identity] }) { return answer.isOwn }
    let isOwn = keyPath == \E.id || "\(keyPath)" == "\\\(E.self).id"
    known.withLock { known in
      if known.count < countMaximum { known[identity] = (keyPath, isOwn) }
    }
    return isOwn
  }
}
