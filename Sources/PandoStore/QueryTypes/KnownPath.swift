import PandoModels
import PandoSystem

/// The properties of a key path as a field of its entity type.
///
/// A program has few key paths, and each is one object. Computing the properties takes longer than a query,
/// so they are cached by the object.
final class KnownPath: Sendable {
  let name: String?
  let path: FieldPath?
  let isIdentifier: Bool
  /// The namespace of an identifier field for which each text is a key.
  let textNamespace: String?
  let declared: DeclaredField?

  let mayBeIdentifier: Bool

  /// Makes the properties of a field without case and accents.
  init(folding field: KnownPath) {
    path = field.path?.folded
    name = path?.name
    // The field itself is compared with records.
    declared = field.declared
    isIdentifier = false
    textNamespace = nil
    mayBeIdentifier = false
  }

  init<E: Queryable>(
    _ keyPath: any PartialKeyPath<E> & Sendable, _ type: E.Type, isIdentifier mayBe: Bool,
    name: String?, properties: [String]? = nil, valueType: Any.Type? = nil,
    value: @escaping @Sendable (E) -> QueryValue
  ) {
    self.name = name
    let valueType = valueType ?? Swift.type(of: keyPath).valueType
    let path = name.map { FieldPath($0, in: E.self, along: properties, to: valueType) }
    let mayBeElsewhere = name.map { Self.mayBeElsewhere($0, in: E.self) } ?? false
    self.path = path
    declared = path.map { path in
      DeclaredField(path, mayBeElsewhere: mayBeElsewhere) {
        // The optional of the value itself is no part of the path.
        let text = "\(keyPath)"
        return text.hasSuffix("?") ? String(text.dropLast()) : text
      } value: {
        ($0 as? E).map(value)
      }
    }
    mayBeIdentifier = mayBe
    isIdentifier = mayBe && Self.isIdentifier(keyPath, named: name)
    let typed = isIdentifier ? E.typedIdentifier : nil
    textNamespace = typed?.hasTextKeys == true ? typed?.namespace : nil
  }

  /// Whether a key path leads to the entity's own identifier.
  ///
  /// A key path of the type itself differs from that of the protocol's requirement, but has the same name. A
  /// computed identifier is recognized by its declaration as the field `id`.
  private static func isIdentifier<E: Queryable>(
    _ keyPath: PartialKeyPath<E>, named name: String?
  ) -> Bool {
    name == "id" || keyPath == \E.self || "\(keyPath)" == "\\\(E.self).id"
      || E.typedIdentifier?.isIdentifier(keyPath) == true
  }

  private static func mayBeElsewhere<E: Queryable>(_ name: String, in type: E.Type) -> Bool {
    let first =
      name.split(whereSeparator: { $0 == "." || $0 == "[" }).first.map(String.init) ?? name
    return [name, first].contains { name in
      type.fieldDefaults[name] != nil || type.formerFieldNames[name] != nil
    }
  }

  /// The largest number of cached key paths, for programs that make key paths at run time.
  private static let countMaximum = 1000

  /// Holds the key paths, so that no other object gets the same address.
  private static let all = Locked<[ObjectIdentifier: (keyPath: AnyKeyPath, known: KnownPath)]>([:])

  /// Returns the properties of a key path, computed when first used.
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

/// The declaration of a field, or how to find it.
enum Knowledge: Sendable {
  case known(KnownPath)
  case later(LaterKnown)
}

/// Finds the declaration of a field when first used.
final class LaterKnown: Sendable {
  private let found = Locked<KnownPath?>(nil)
  private let find: @Sendable () -> KnownPath

  init(_ find: @escaping @Sendable () -> KnownPath) { self.find = find }

  var known: KnownPath {
    if let known = found.withLock({ $0 }) { return known }
    let known = find()
    found.withLock { $0 = known }
    return known
  }
}
