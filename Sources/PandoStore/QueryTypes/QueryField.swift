public import PandoModels
import PandoRecords
import PandoSystem

/// A field in filters, orders, groups and indexes: named by its key path, or by its name as a text.
///
/// A key path can lead through children: `\.author.name` is the name of the author. A static method names a child,
/// or a field with several values:
///
/// ```swift
/// static let fields: [Field<Issue>] = [
///   .indexed(\.author.name),
///   .indexed(.child(\.author)),  // the identifier of the author's node
///   .indexed(.each(\.tags)),  // each text of a list
///   .indexed(.each(\.labels, \.name)),  // the name of each label
/// ]
/// ```
public struct QueryField<E: Queryable>: Sendable {
  package let keyPath: any PartialKeyPath<E> & Sendable
  /// The rest of the way in each element of a list.
  private let elementPath: (any AnyKeyPath & Sendable)?
  package let value: @Sendable (E) -> QueryValue
  private let shape: FieldShape
  private let knowledge: Knowledge
  /// Computed when first used; most queries don't use it.
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
    // Computed when first used, because the type may be declaring this field now.
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

  /// A field by its key path; the value of an undeclared one is read from the decoded entity.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
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

  /// Makes a field from a key path, without looking at declarations.
  init<Value: QueryRepresentable>(undeclared keyPath: any KeyPath<E, Value> & Sendable) {
    let value: @Sendable (E) -> QueryValue = { $0[keyPath: keyPath].queryValue }
    let known = KnownPath(
      keyPath, E.self,
      isIdentifier: E.identifierType == Value.self, name: nil, value: value)
    self.init(
      keyPath, element: nil, .value, .known(known), kinds: { Value.queryKinds }, value: value)
  }

  /// The text of a field without case and accents, for orders and indexes.
  ///
  /// ```swift
  /// static let indexes: [FieldIndex<Person>] = [.indexed(.folded(\.name)), .unique(.folded(\.email))]
  /// ```
  /// The first one serves `.ascending(.folded(\.name))`; the second one refuses two persons whose addresses differ in
  /// case alone. In a filter, the compared text is folded too. The type declares the field itself as usual.
  ///
  /// - Parameter keyPath: The place of the text in the entity.
  /// - Returns: The field.
  public static func folded<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> QueryField {
    let value: @Sendable (E) -> QueryValue = { $0[keyPath: keyPath].queryValue.folded }
    let later = LaterKnown {
      let declared = E.fields.first {
        $0.reference.keyPath == keyPath && $0.reference.shape == .folded
      }
      return declared?.reference.known ?? KnownPath(folding: QueryField(keyPath).known)
    }
    return QueryField(
      keyPath, element: nil, .folded, .later(later), kinds: { Value.queryKinds }, value: value)
  }

  /// The stored properties along the key path; `nil` if it has other parts.
  private var properties: [String]? {
    guard var names = PropertyNames.stored(along: keyPath, of: E.self) else { return nil }
    guard let elementPath else { return names }
    let root = type(of: elementPath).rootType
    guard let rest = PropertyNames.stored(along: elementPath, of: root) else { return nil }
    names += rest
    return names
  }

  /// The declaration of the key path.
  private var known: KnownPath {
    switch knowledge {
    case .known(let known): known
    case .later(let later): later.known
    }
  }

  /// The same field with its coded name.
  func declared(as name: String) -> QueryField {
    let name = isFolded ? FieldPath(name).folded.name : name
    var mayBeIdentifier = false
    if case .known(let known) = knowledge { mayBeIdentifier = known.mayBeIdentifier }
    let known = KnownPath(
      keyPath, E.self, isIdentifier: mayBeIdentifier, name: name, properties: properties,
      valueType: elementPath.map { Swift.type(of: $0).valueType }, value: value)
    return QueryField(
      keyPath, element: elementPath, shape, .known(known), kinds: makeKinds, value: value)
  }

  /// The names of the stored properties along the key path, from reflection.
  var propertyNames: String {
    var name = PropertyNames.along(keyPath, of: E.self)
    if hasElements { name += "[]" }
    if let elementPath {
      name += "." + PropertyNames.along(elementPath, of: type(of: elementPath).rootType)
    }
    if isFolded { name = FieldPath(name).folded.name }
    return name
  }

  /// The key under which it is coded; `nil` for an undeclared key path.
  package var name: String? { known.name }
  /// The place of the value in a body; `nil` without a name.
  var path: FieldPath? { known.path }
  /// Whether the name has been proven; `nil` without a name.
  var declared: DeclaredField? { known.declared }
  /// Whether this is the entity's identifier.
  package var isIdentifier: Bool { known.isIdentifier }
  /// The namespace of an identifier field for which each text is a key.
  var textNamespace: String? { known.textNamespace }
  /// The kinds of its values.
  package var kinds: Set<QueryValue.Kind> { makeKinds() }

  /// Makes a field from a name.
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

  /// A field with a key path.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The field.
  public static func field<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> QueryField { QueryField(keyPath) }

  /// Whether its values are identifiers of children.
  var namesChildren: Bool { shape == .child || shape == .eachChild || namesAllChildren }
  /// Whether these are children of the entity itself, in one of its stored properties.
  var namesOwnChildren: Bool {
    if !namesChildren || namesAllChildren { return namesAllChildren }
    let text = "\(keyPath)"
    return !text.contains("<") && text.filter { $0 == "." }.count == 1
  }
  /// Whether its values are texts without case and accents.
  var isFolded: Bool { shape == .folded }
  /// Whether it has a value for each element of a list.
  var hasElements: Bool { shape == .each || shape == .eachChild }
  /// Whether its values are the identifiers of all children.
  var namesAllChildren: Bool { shape == .children }
  /// Whether its values are the identifiers of all parents.
  var namesHolders: Bool { shape == .holders }
  /// The condition on the models that name the entity, if it is one.
  package var condition: (any StoreCondition)? {
    if case .condition(let box) = shape { box.condition } else { nil }
  }
  /// Whether its value is in rows of a store beside the record.
  var isStoresOwn: Bool {
    switch shape {
    case .holders, .synchronization, .condition: true
    case .value, .child, .eachChild, .each, .folded, .children: false
    }
  }

  /// Whether its value may be in another node than the entity's own; `true` for an undeclared key path.
  package var mayLeadThroughNodes: Bool {
    !isIdentifier && (namesChildren || path.map(\.leadsOn) ?? true)
  }

  /// Whether it may have several values.
  package var namesSeveral: Bool { hasElements || namesAllChildren || isStoresOwn }

  /// The name of the field in errors and plans.
  package var label: String {
    if let name { return name }
    return isIdentifier ? "id" : elementPath.map { "\(keyPath), \($0)" } ?? "\(keyPath)"
  }
}

extension QueryField: Hashable {
  /// Whether both are the same field.
  ///
  /// - Parameters:
  ///   - left: A field.
  ///   - right: A field.
  /// - Returns: Whether the key paths are equal, or both lead to the identifier.
  public static func == (left: QueryField, right: QueryField) -> Bool {
    left.keyPath == right.keyPath && left.elementPath == right.elementPath
      && left.shape == right.shape || left.isIdentifier && right.isIdentifier
  }

  /// Adds the key path to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    if isIdentifier { hasher.combine(true) } else { hasher.combine(keyPath) }
  }
}

extension QueryField: CustomStringConvertible {
  /// The declared name, or the key path.
  public var description: String { label }
}

/// The kind of value at the end of a key path.
private enum FieldShape: Sendable, Equatable {
  /// One value.
  case value
  /// A child, or each child in a list or map.
  case child, eachChild
  /// Each element of another list or map.
  case each
  /// One text without case and accents.
  case folded
  /// All children of the entity.
  case children
  /// All that hold the entity; only a store has them.
  case holders
  /// Whether a server has the entity as it is; only a store has it.
  case synchronization
  /// Whether the entity meets a condition on other models; only a store has them.
  case condition(ConditionBox)
}

/// Makes conditions comparable.
private struct ConditionBox: Sendable, Equatable {
  let condition: any StoreCondition

  static func == (left: ConditionBox, right: ConditionBox) -> Bool {
    AnyHashable(left.condition) == AnyHashable(right.condition)
  }
}

extension QueryField {
  /// A child as the identifier of its node; null without one.
  ///
  /// - Parameter keyPath: The place of the child in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable
  ) -> QueryField { child(keyPath) { $0[keyPath: keyPath] } }

  /// An optional child as the identifier of its node.
  ///
  /// - Parameter keyPath: The place of the child in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable
  ) -> QueryField { child(keyPath) { $0[keyPath: keyPath] } }

  /// The values of a list; a filter matches if one of them does.
  ///
  /// - Parameter keyPath: The place of the list in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QueryField where List.Element: QueryRepresentable {
    QueryField(keyPath, .each, kinds: { List.Element.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].map(\.queryValue))
    }
  }

  /// The children in a list, by the identifiers of their nodes; a filter matches if one of them does.
  ///
  /// - Parameter keyPath: The place of the list in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QueryField where List.Element: SimpleModel {
    QueryField(keyPath, .eachChild, kinds: { [.string, .null] }) { entity in
      .elements(entity[keyPath: keyPath].map { .identifier(of: $0) })
    }
  }

  /// The children in a map as the identifiers of their nodes; a filter matches if one of them does.
  ///
  /// - Parameter keyPath: The place of the map in the entity.
  /// - Returns: The field.
  public static func each<Key: Hashable & SendableMetatype, Child: SimpleModel>(
    _ keyPath: any KeyPath<E, [Key: Child]> & Sendable
  ) -> QueryField {
    QueryField(keyPath, .eachChild, kinds: { [.string, .null] }) { entity in
      .elements(entity[keyPath: keyPath].values.map { .identifier(of: $0) })
    }
  }

  /// A field of each element of a list; a filter matches if one of them does.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - element: The place of the value in an element.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, List> & Sendable,
    _ element: any KeyPath<List.Element, Value> & Sendable
  ) -> QueryField {
    QueryField(keyPath, element: element, .each, kinds: { Value.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].map { $0[keyPath: element].queryValue })
    }
  }

  /// A field of each value of a map; a filter matches if one of them does.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the map in the entity.
  ///   - element: The place of the value in a value of the map.
  /// - Returns: The field.
  public static func each<Key: Hashable & SendableMetatype, Element, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, [Key: Element]> & Sendable,
    _ element: any KeyPath<Element, Value> & Sendable
  ) -> QueryField {
    QueryField(keyPath, element: element, .each, kinds: { Value.queryKinds }) { entity in
      .elements(entity[keyPath: keyPath].values.map { $0[keyPath: element].queryValue })
    }
  }

  /// The identifier: `id` of an entity, the node identifier of another model.
  static var identifier: QueryField {
    if let field = E.typedIdentifier?.field as? QueryField { return field }
    let value: @Sendable (E) -> QueryValue = { .identifier(of: $0) }
    let known = KnownPath(\E.self, E.self, isIdentifier: true, name: nil, value: value)
    return QueryField(
      \E.self, element: nil, .value, .known(known), kinds: { [.string, .null] }, value: value)
  }

  /// All children inside the entity, as the identifiers of their nodes.
  static var children: QueryField {
    QueryField(\E.self, .children, kinds: { [.string] }) { entity in
      var values: [QueryValue] = []
      ModelChildren.forEachNode(of: entity) { values.append(.string($0)) }
      return .elements(values)
    }
  }

  /// The parents of the entity, as the identifiers of their nodes; only a store has them.
  static var holders: QueryField {
    QueryField(\E.self, .holders, kinds: { [.string] }) { _ in .null }
  }

  /// The synchronization state of the entity; only a store has it.
  static var synchronization: QueryField {
    QueryField(\E.self, .synchronization, kinds: { [.string] }) { _ in .null }
  }

  /// Whether the entity meets a condition on other models; only a store has them.
  static func meets(_ condition: some StoreCondition) -> QueryField {
    QueryField(\E.self, .condition(ConditionBox(condition: condition)), kinds: { [.bool] }) { _ in
      .null
    }
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
