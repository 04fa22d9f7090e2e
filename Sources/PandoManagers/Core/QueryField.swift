public import PandoModels
package import PandoStore
import PandoSystem

/// A field as filters, orders and groups name it: by its key path, or for tools by its name.
///
/// A key path leads through children, too: `\.author.name` is the name of the author's node. What is more
/// than one value is named by a word:
///
/// ```swift
/// static let fields: [EntityField<Issue>] = [
///   .indexed(\.author.name),
///   .indexed(.child(\.author)),  // the identifier of the author's node
///   .indexed(.each(\.tags)),  // each text of a list
///   .indexed(.each(\.labels, \.name)),  // the name of each label
/// ]
/// ```
public struct QueryField<E: Queryable>: Sendable {
  package let keyPath: any PartialKeyPath<E> & Sendable
  /// Where it goes on in each element of what is there.
  private let elementPath: (any AnyKeyPath & Sendable)?
  package let value: @Sendable (E) -> QueryValue
  private let shape: FieldShape
  private let knowledge: Knowledge
  /// Made when they are asked for, which most queries never do.
  private let makeKinds: @Sendable () -> Set<QueryValue.Kind>

  private init(
    _ keyPath: any PartialKeyPath<E> & Sendable, element: (any AnyKeyPath & Sendable)?,
    _ shape: FieldShape, _ knowledge: Knowledge,
    kinds: @escaping @Sendable () -> Set<QueryValue.Kind>,
    value: @escaping @Sendable (E) -> QueryValue
  ) {
    self.keyPath = keyPath
    elementPath = element
    self.shape = shape
    self.knowledge = knowledge
    makeKinds = kinds
    self.value = value
  }

  private init(
    _ keyPath: any PartialKeyPath<E> & Sendable, element: (any AnyKeyPath & Sendable)? = nil,
    _ shape: FieldShape, kinds: @escaping @Sendable () -> Set<QueryValue.Kind>,
    value: @escaping @Sendable (E) -> QueryValue
  ) {
    // Not before it is asked for: such a field may be one of those that the type is about to declare.
    let later = LaterKnown {
      let declared = E.fields.first { field in
        field.reference.keyPath == keyPath && field.reference.elementPath == element
          && field.reference.shape == shape
      }
      return declared?.reference.known
        ?? KnownPath(keyPath, E.self, isIdentifier: false, name: nil, value: value)
    }
    self.init(keyPath, element: element, shape, .later(later), kinds: kinds, value: value)
  }

  /// A field by its key path; one that is not declared is looked at in the decoded entity.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  public init<Value: QueryRepresentable>(_ keyPath: any KeyPath<E, Value> & Sendable) {
    let value: @Sendable (E) -> QueryValue = { $0[keyPath: keyPath].queryValue }
    let known = KnownPath.of(keyPath) {
      let declared = E.fields.first {
        $0.reference.keyPath == keyPath && $0.reference.shape == .value
      }
      return declared?.reference.known ?? QueryField(undeclared: keyPath).known
    }
    self.init(
      keyPath, element: nil, .value, .known(known), kinds: { Value.queryKinds }, value: value)
  }

  /// A field by its key path, whatever the type says of it.
  init<Value: QueryRepresentable>(undeclared keyPath: any KeyPath<E, Value> & Sendable) {
    let value: @Sendable (E) -> QueryValue = { $0[keyPath: keyPath].queryValue }
    let known = KnownPath(
      keyPath, E.self,
      isIdentifier: (E.self as? any Entity.Type)?.identifierType == Value.self, name: nil,
      value: value)
    self.init(
      keyPath, element: nil, .value, .known(known), kinds: { Value.queryKinds }, value: value)
  }

  /// The stored properties that it leads through; `nil` if it leads through something else.
  private var properties: [String]? {
    guard var names = PropertyNames.stored(along: keyPath, of: E.self) else { return nil }
    guard let elementPath else { return names }
    let root = type(of: elementPath).rootType
    guard let rest = PropertyNames.stored(along: elementPath, of: root) else { return nil }
    names += rest
    return names
  }

  /// What the type says of the key path.
  private var known: KnownPath {
    switch knowledge {
    case .known(let known): known
    case .later(let later): later.known
    }
  }

  /// The same field, coded under a name.
  func declared(as name: String) -> QueryField {
    var mayBeIdentifier = false
    if case .known(let known) = knowledge { mayBeIdentifier = known.mayBeIdentifier }
    let known = KnownPath(
      keyPath, E.self, isIdentifier: mayBeIdentifier, name: name, properties: properties,
      value: value)
    return QueryField(
      keyPath, element: elementPath, shape, .known(known), kinds: makeKinds, value: value)
  }

  /// The names of the stored properties that it leads through, which Swift keeps for reflection.
  var propertyNames: String {
    var name = PropertyNames.along(keyPath, of: E.self)
    if hasElements { name += "[]" }
    if let elementPath {
      name += "." + PropertyNames.along(elementPath, of: type(of: elementPath).rootType)
    }
    return name
  }

  /// The key under which it is coded; `nil` for a key path that is not among the declared fields.
  package var name: String? { known.name }
  /// Where the value is in a body; `nil` without a name.
  var path: FieldPath? { known.path }
  /// What is known of its name; `nil` without one.
  var declared: DeclaredField? { known.declared }
  /// Whether this is the entity's identifier.
  package var isIdentifier: Bool { known.isIdentifier }
  /// The namespace of an entity's identifier of which every text is a key.
  var textNamespace: String? { known.textNamespace }
  /// What values it can have.
  package var kinds: Set<QueryValue.Kind> { makeKinds() }

  /// A field by its name.
  ///
  /// - Parameter name: The name of a declared field, or `id`.
  /// - Throws: ``QueryError`` `unknownField`.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(named name: String) throws(QueryError) {
    if let declared = E.fields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      self = declared.reference
    } else if name == "id" {
      self = .identifier
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

  /// Whether its values are identifiers of children.
  var namesChildren: Bool { shape == .child || shape == .eachChild || namesAllChildren }
  /// Whether these are children of the entity itself, in a stored property of it.
  var namesOwnChildren: Bool {
    if !namesChildren || namesAllChildren { return namesAllChildren }
    let text = "\(keyPath)"
    return !text.contains("<") && text.filter { $0 == "." }.count == 1
  }
  /// Whether it has a value for each element of a list.
  var hasElements: Bool { shape == .each || shape == .eachChild }
  /// Whether they are those of all children.
  var namesAllChildren: Bool { shape == .children }
  /// Whether they are those of all that hold the entity.
  var namesHolders: Bool { shape == .holders }
  /// Whether a store knows its value and the entity does not.
  var isStoresOwn: Bool { shape == .holders || shape == .synchronization }

  /// Whether its value may stand in another node than the entity's own; of a key path that is not
  /// declared nobody knows.
  var mayLeadThroughNodes: Bool {
    !isIdentifier && (namesChildren || path.map(\.leadsOn) ?? true)
  }

  /// Whether it may have more than one value.
  var namesSeveral: Bool { hasElements || namesAllChildren || isStoresOwn }

  /// How errors and plans call the field.
  package var label: String {
    if let name { return name }
    return isIdentifier ? "id" : elementPath.map { "\(keyPath), \($0)" } ?? "\(keyPath)"
  }
}

extension QueryField: Hashable {
  /// Whether both lead to the same place.
  ///
  /// - Parameters:
  ///   - left: A field.
  ///   - right: A field.
  /// - Returns: Whether the key paths are equal, or both lead to the identifier.
  public static func == (left: QueryField, right: QueryField) -> Bool {
    left.keyPath == right.keyPath && left.elementPath == right.elementPath
      && left.shape == right.shape || left.isIdentifier && right.isIdentifier
  }

  /// Feeds the key path to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    if isIdentifier { hasher.combine(true) } else { hasher.combine(keyPath) }
  }
}

extension QueryField: CustomStringConvertible {
  /// The name under which it is declared, or the key path.
  public var description: String { label }
}

/// What is known of a field, or will be when it is asked for.
private enum Knowledge: Sendable {
  case known(KnownPath)
  case later(LaterKnown)
}

/// Finds out once what is known of a field.
private final class LaterKnown: Sendable {
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

/// What a field has at the end of its key path.
private enum FieldShape: Sendable {
  /// A value.
  case value
  /// A child, or the children in a list or map.
  case child, eachChild
  /// A list or map of other things.
  case each
  /// All children of the entity.
  case children
  /// All that hold the entity; only a store knows them.
  case holders
  /// Whether a server has the entity as it is; only a store knows it.
  case synchronization
}

extension QueryField {
  /// A child, by the identifier of its node; null where there is none.
  ///
  /// - Parameter keyPath: Where the child is in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable
  ) -> QueryField { child(keyPath) { $0[keyPath: keyPath] } }

  /// A child that may be missing, by the identifier of its node.
  ///
  /// - Parameter keyPath: Where the child is in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable
  ) -> QueryField { child(keyPath) { $0[keyPath: keyPath] } }

  /// The values of a list; a filter holds if it holds for one of them.
  ///
  /// - Parameter keyPath: Where the list is in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QueryField where List.Element: QueryRepresentable {
    QueryField(keyPath, .each, kinds: { List.Element.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].map(\.queryValue))
    }
  }

  /// The children in a list, by the identifiers of their nodes; a filter holds if it holds for one.
  ///
  /// - Parameter keyPath: Where the list is in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QueryField where List.Element: SimpleModel {
    QueryField(keyPath, .eachChild, kinds: { [.string, .null] }) { entity in
      .elements(entity[keyPath: keyPath].map { .identifier(of: $0) })
    }
  }

  /// The children in a map, by the identifiers of their nodes; a filter holds if it holds for one.
  ///
  /// - Parameter keyPath: Where the map is in the entity.
  /// - Returns: The field.
  public static func each<Key: Hashable & SendableMetatype, Child: SimpleModel>(
    _ keyPath: any KeyPath<E, [Key: Child]> & Sendable
  ) -> QueryField {
    QueryField(keyPath, .eachChild, kinds: { [.string, .null] }) { entity in
      .elements(entity[keyPath: keyPath].values.map { .identifier(of: $0) })
    }
  }

  /// A field of each element of a list; a filter holds if it holds for one of them.
  ///
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - element: Where the value is in an element.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, List> & Sendable,
    _ element: any KeyPath<List.Element, Value> & Sendable
  ) -> QueryField {
    QueryField(keyPath, element: element, .each, kinds: { Value.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].map { $0[keyPath: element].queryValue })
    }
  }

  /// A field of each value of a map; a filter holds if it holds for one of them.
  ///
  /// - Parameters:
  ///   - keyPath: Where the map is in the entity.
  ///   - element: Where the value is in what the map holds.
  /// - Returns: The field.
  public static func each<Key: Hashable & SendableMetatype, Element, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, [Key: Element]> & Sendable,
    _ element: any KeyPath<Element, Value> & Sendable
  ) -> QueryField {
    QueryField(keyPath, element: element, .each, kinds: { Value.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].values.map { $0[keyPath: element].queryValue })
    }
  }

  /// The identifier: `id` of an entity, of another model that of its node.
  static var identifier: QueryField {
    if let type = E.self as? any Entity.Type, let field = type.identifierField as? QueryField {
      return field
    }
    let value: @Sendable (E) -> QueryValue = { .identifier(of: $0) }
    let known = KnownPath(\E.self, E.self, isIdentifier: true, name: nil, value: value)
    return QueryField(
      \E.self, element: nil, .value, .known(known), kinds: { [.string, .null] }, value: value)
  }

  /// The children of the entity, wherever in it, by the identifiers of their nodes.
  static var children: QueryField {
    QueryField(\E.self, .children, kinds: { [.string] }) { entity in
      var values: [QueryValue] = []
      ModelChildren.forEachNode(of: entity) { values.append(.string($0)) }
      return .elements(values)
    }
  }

  /// Those that hold the entity, by the identifiers of their nodes, which the entity does not know.
  static var holders: QueryField {
    QueryField(\E.self, .holders, kinds: { [.string] }) { _ in .null }
  }

  /// Whether a server has the entity as it is, which the entity does not know.
  static var synchronization: QueryField {
    QueryField(\E.self, .synchronization, kinds: { [.string] }) { _ in .null }
  }

  private static func child(
    _ keyPath: any PartialKeyPath<E> & Sendable,
    _ child: @escaping @Sendable (E) -> (any SimpleModel)?
  ) -> QueryField {
    QueryField(keyPath, .child, kinds: { [.string, .null] }) { entity in
      child(entity).map { .identifier(of: $0) } ?? .null
    }
  }
}

extension QueryValue {
  /// The identifier of a node; null for a model without one.
  fileprivate static func identifier(of model: any SimpleModel) -> QueryValue {
    model.modelIdentifier.map { .string($0) } ?? .null
  }
}

/// What is known of a key path as a field of its entity type.
///
/// Programs write few key paths, and each is one object wherever it is used again; to find all this out
/// takes longer than a query, so it is remembered by the object.
private final class KnownPath: Sendable {
  let name: String?
  let path: FieldPath?
  let isIdentifier: Bool
  /// The namespace of an entity's identifier of which every text is a key.
  let textNamespace: String?
  let declared: DeclaredField?

  let mayBeIdentifier: Bool

  init<E: Queryable>(
    _ keyPath: any PartialKeyPath<E> & Sendable, _ type: E.Type, isIdentifier mayBe: Bool,
    name: String?, properties: [String]? = nil, value: @escaping @Sendable (E) -> QueryValue
  ) {
    self.name = name
    let path = name.map { FieldPath($0, in: E.self, along: properties) }
    let mayBeElsewhere = name.map { Self.mayBeElsewhere($0, in: E.self) } ?? false
    self.path = path
    declared = path.map { path in
      DeclaredField(path, mayBeElsewhere: mayBeElsewhere) {
        // The optional that is its value is no part of the way.
        let text = "\(keyPath)"
        return text.hasSuffix("?") ? String(text.dropLast()) : text
      } value: {
        ($0 as? E).map(value)
      }
    }
    mayBeIdentifier = mayBe
    isIdentifier = mayBe && Self.isIdentifier(keyPath, named: name)
    textNamespace = isIdentifier ? (E.self as? any Entity.Type)?.textNamespace : nil
  }

  /// Whether a key path leads to the entity's own identifier.
  ///
  /// One that was written for the type itself differs from the one to the protocol's requirement, but
  /// says its name. A computed identifier is known where it is declared as the field `id`.
  private static func isIdentifier<E: Queryable>(
    _ keyPath: PartialKeyPath<E>, named name: String?
  ) -> Bool {
    name == "id" || keyPath == \E.self || "\(keyPath)" == "\\\(E.self).id"
      || (E.self as? any Entity.Type)?.isIdentifier(keyPath) == true
  }

  private static func mayBeElsewhere<E: Queryable>(_ name: String, in type: E.Type) -> Bool {
    let first =
      name.split(whereSeparator: { $0 == "." || $0 == "[" }).first.map(String.init) ?? name
    return [name, first].contains { name in
      type.fieldDefaults[name] != nil || type.formerFieldNames[name] != nil
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
