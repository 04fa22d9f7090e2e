import PandoSystem
import PandoModels
package import PandoStore

/// A field as filters, orders and groups name it: by its key path, or for tools by its name.
public struct QueryField<E: Entity>: Sendable {
  package let keyPath: any PartialKeyPath<E> & Sendable
  package let value: @Sendable (E) -> QueryValue
  /// What the type says of the key path.
  private let known: KnownPath
  /// Made when they are asked for, which most queries never do.
  private let makeKinds: @Sendable () -> Set<QueryValue.Kind>

  private init<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ known: KnownPath
  ) {
    self.keyPath = keyPath
    self.known = known
    makeKinds = { Value.queryKinds }
    value = { $0[keyPath: keyPath].queryValue }
  }

  package init<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, name: String?
  ) {
    self.init(keyPath, KnownPath(keyPath, name: name))
  }

  /// A field by its key path; one that is not declared is looked at in the decoded entity.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  public init<Value: QueryRepresentable>(_ keyPath: any KeyPath<E, Value> & Sendable) {
    self.init(
      keyPath,
      KnownPath.of(keyPath) {
        let declared = E.fields.first { $0.reference.keyPath == keyPath }
        return declared?.reference.known ?? KnownPath(keyPath, name: nil)
      })
  }

  /// The key under which it is coded; `nil` for a key path that is not among the declared fields.
  package var name: String? { known.name }
  /// Where the value is in a body; `nil` without a name.
  var path: FieldPath? { known.path }
  /// What is known of its name; `nil` without one.
  var declared: DeclaredField? { known.declared }
  /// Whether the value is the type's to give where a body lacks it: a default, or a former name.
  var mayBeElsewhere: Bool { known.mayBeElsewhere }
  /// Whether this is the entity's identifier.
  package var isIdentifier: Bool { known.isIdentifier }
  /// What values it can have.
  package var kinds: Set<QueryValue.Kind> { makeKinds() }

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
      let known = E.fields.map(\.name).ordered().joined(separator: ", ")
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

/// What is known of a key path as a field of its entity type.
///
/// Programs write few key paths, and each is one object wherever it is used again; to find all this out
/// takes longer than a query, so it is remembered by the object.
private final class KnownPath: Sendable {
  let name: String?
  let path: FieldPath?
  let mayBeElsewhere: Bool
  let isIdentifier: Bool
  let declared: DeclaredField?

  init<E: Entity, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, name: String?
  ) {
    self.name = name
    let path = name.map { FieldPath($0) }
    let mayBeElsewhere = name.map { Self.mayBeElsewhere($0, in: E.self) } ?? false
    self.path = path
    self.mayBeElsewhere = mayBeElsewhere
    declared = path.map { path in
      DeclaredField(path, mayBeElsewhere: mayBeElsewhere) {
        // The optional that is its value is no part of the way.
        let text = "\(keyPath)"
        return text.hasSuffix("?") ? String(text.dropLast()) : text
      } value: {
        ($0 as? E)?[keyPath: keyPath].queryValue
      }
    }
    isIdentifier =
      Value.self == EntityIdentifier<E>.self && Self.isIdentifier(keyPath, named: name)
  }

  /// Whether a key path leads to the entity's own identifier.
  ///
  /// One that was written for the type itself differs from the one to the protocol's requirement, but
  /// says its name. A computed identifier is known where it is declared as the field `id`.
  private static func isIdentifier<E: Entity>(_ keyPath: PartialKeyPath<E>, named name: String?)
    -> Bool
  {
    name == "id" || keyPath == \E.id || "\(keyPath)" == "\\\(E.self).id"
  }

  private static func mayBeElsewhere<E: Entity>(_ name: String, in type: E.Type) -> Bool {
    guard let versioned = type as? any SchemaVersioned.Type else { return false }
    let first = name.split(separator: ".").first.map(String.init) ?? name
    return [name, first].contains { name in
      versioned.fieldDefaults[name] != nil || versioned.formerFieldNames[name] != nil
    }
  }

  /// How many are remembered: enough, unless a program makes key paths as it goes.
  private static let countMaximum = 1000

  /// Each key path is kept, so that no other takes its place in memory.
  private static let all = Locked<[ObjectIdentifier: (keyPath: AnyKeyPath, known: KnownPath)]>([:])

  /// What is known of a key path, found out when it is first asked for.
  static func of(_ keyPath: AnyKeyPath, _ make: () -> KnownPath) -> KnownPath {
    let identity = ObjectIdentifier(keyPath)
    if let found = all.withLock({ $0[identity]?.known }) { return found }
    let made = make()
    all.withLock { all in
      if all.count < countMaximum { all[identity] = (keyPath, made) }
    }
    return made
  }
}
