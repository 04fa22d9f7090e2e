import PandoModels
public import PandoStore
import PandoSystem

/// The condition of a query.
///
/// Operators over key paths let the compiler check names and types:
///
/// ```swift
/// \Book.year > 1990 && (\Book.title ~= "^The" || !(\Book.id >> seen))
/// ```
/// The operators are `== != < <= > >=`, `~=` (contains a match of a regular expression), `>>` (is one of),
/// `&& || !`, and ``hasPrefix(_:_:)``. `<` and `>` compare values of one kind only: null is neither less nor
/// greater than a number.
public struct Filter<E: Queryable>: Hashable, Sendable {
  package let tree: FilterTree<QueryField<E>>

  package init(_ tree: FilterTree<QueryField<E>>) { self.tree = tree }

  /// All entities.
  public static var all: Filter { Filter(.all) }

  /// Models with these node identifiers.
  ///
  /// - Parameter identifiers: The identifiers of the nodes, as `Book:7` for an entity.
  /// - Returns: The filter.
  public static func identifiers(_ identifiers: [String]) -> Filter {
    Filter(.isIn(.identifier, QueryValueSet(identifiers.compactMap(E.identifierValue))))
  }

  /// Texts with a prefix, byte by byte.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the text in the entity.
  ///   - prefix: The prefix.
  /// - Returns: The filter.
  public static func hasPrefix<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ prefix: String
  ) -> Filter { Filter(.prefix(QueryField(keyPath), prefix)) }

  /// Texts with a match of a regular expression, as by `~=`, whose page describes the expressions.
  ///
  /// ```swift
  /// let dunes = Query<Book>(filter: .matches(\.title, "(?i)^dune"))
  /// ```
  /// - Parameters:
  ///   - keyPath: The place of the text in the entity.
  ///   - pattern: The expression, in the syntax of Swift's `Regex`.
  /// - Returns: The filter.
  public static func matches<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ pattern: String
  ) -> Filter { keyPath ~= pattern }

  /// One of several values, as by `>>`.
  ///
  /// ```swift
  /// let old = Query<Book>(filter: .isIn(\.year, [1965, 1969]))
  /// ```
  /// - Parameters:
  ///   - keyPath: The place of the value in the entity.
  ///   - values: The values.
  /// - Returns: The filter.
  public static func isIn<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ values: some Sequence<Value>
  ) -> Filter { keyPath >> values }

  /// Entities that contain a node.
  ///
  /// They are found by the dependency index of the store, without another index.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The filter.
  public static func holds(_ identifier: String) -> Filter {
    compare(.children, .equal, identifier)
  }

  /// Entities that are children of a node, at any place in it.
  ///
  /// ```swift
  /// let labels = Query<Label>(filter: .held(by: issue.id), order: [.ascending(\.name)])
  /// ```
  /// Only a store on disk has the parents of an entity. Elsewhere, for example with a server in the context,
  /// such a query throws ``QueryError`` `needsStore`, and ``matches(_:)`` returns `false`. A followed one is
  /// read again after each commit that changes a node.
  ///
  /// - Parameter identifier: The identifier of the parent node.
  /// - Returns: The filter.
  public static func held(by identifier: String) -> Filter {
    compare(.holders, .equal, identifier)
  }

  /// Entities with a ``SynchronizationState``: `synced`, `unsynced`, `pending` or `refused`.
  ///
  /// ```swift
  /// let refused = Query<Issue>(filter: .synchronizationState(.refused))
  /// ```
  /// Only a store on disk has it; elsewhere such a query throws ``QueryError`` `needsStore`. A followed one
  /// is read again if the state of an entity changes. `pending` and `refused` are found without reading other
  /// entities; `synced` and `unsynced` look up the state of each entity of the type.
  ///
  /// - Parameter state: The state.
  /// - Returns: The filter.
  public static func synchronizationState(_ state: SynchronizationState) -> Filter {
    compare(.synchronization, .equal, state.rawValue)
  }

  /// Entities that are children of another entity, at any place in it.
  ///
  /// - Parameter id: The identifier of the parent.
  /// - Returns: The filter.
  public static func held<Parent: Entity>(by id: EntityIdentifier<Parent>) -> Filter {
    held(by: id.modelIdentifier)
  }

  /// Entities with a given child in a field.
  ///
  /// ```swift
  /// let mine = Query(filter: .holds(\Issue.assignee, "User:ada") && \Issue.status == .open)
  /// ```
  /// The dependency index of the store finds the parents of a node. An index of `child(_:)` with other fields
  /// finds them in the order of those fields.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ identifier: String
  ) -> Filter { compare(.child(keyPath), .equal, identifier) }

  /// Entities with a given child in an optional field.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ identifier: String
  ) -> Filter { compare(.child(keyPath), .equal, identifier) }

  /// Entities with a given child in a list.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ identifier: String
  ) -> Filter where List.Element: SimpleModel { compare(.each(keyPath), .equal, identifier) }

  /// Entities with a given child entity in a field.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the entity.
  ///   - id: The identifier of the child.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities with a given child entity in an optional field.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the entity.
  ///   - id: The identifier of the child.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities with a given child entity in a list.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - id: The identifier of the child.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ id: EntityIdentifier<List.Element>
  ) -> Filter where List.Element: Entity { holds(keyPath, id.modelIdentifier) }

  /// Entities with a given value in a list.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - value: The value.
  /// - Returns: The filter.
  public static func contains<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ value: List.Element
  ) -> Filter where List.Element: QueryRepresentable { compare(.each(keyPath), .equal, value) }

  /// Entities with a list of which an element has a given value in a field.
  ///
  /// ```swift
  /// let bugs = Query(filter: .contains(\Issue.labels, \.name, "bug"))
  /// ```
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - element: The place of the value in an element.
  ///   - value: The value.
  /// - Returns: The filter.
  public static func contains<List: Collection & SendableMetatype, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, List> & Sendable,
    _ element: any KeyPath<List.Element, Value> & Sendable, _ value: Value
  ) -> Filter { compare(.each(keyPath, element), .equal, value) }

  /// Entities whose field compares with a value; of several values, one of them.
  ///
  /// ```swift
  /// let named = Filter.compare(.each(\Issue.labels, \.name), .greater, "b")
  /// ```
  /// - Parameters:
  ///   - field: The field.
  ///   - comparison: The comparison.
  ///   - value: The value.
  /// - Returns: The filter.
  public static func compare(
    _ field: QueryField<E>, _ comparison: FilterComparison, _ value: some QueryRepresentable
  ) -> Filter { Filter(.compare(field, comparison, value.queryValue)) }

  /// Whether an entity matches.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Whether it does; a regular expression that can't be read matches nothing.
  public func matches(_ entity: E) -> Bool { tree.matches { $0.value(entity) } }
}

extension Filter where E: Entity {
  /// Entities with these identifiers.
  ///
  /// - Parameter ids: The identifiers.
  /// - Returns: The filter.
  public static func ids(_ ids: [EntityIdentifier<E>]) -> Filter { \E.id >> ids }
}

// MARK: - Filters by name, for tools
extension Filter {
  /// Makes a comparison of a field with a value.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - comparison: The comparison.
  ///   - value: The value.
  /// - Throws: ``QueryError`` `unknownField`, or `wrongType` if the field can't have such a value.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(
    field name: String, _ comparison: FilterComparison, _ value: QueryValue
  ) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    try Self.validate(value, for: field)
    self.init(.compare(field, comparison, value))
  }

  /// Makes a test whether a field has one of several values.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - values: The values.
  /// - Throws: ``QueryError`` `unknownField`, or `wrongType` if the field can't have such a value.
  /// - Complexity: O(*f* + *k*) for *f* declared fields and *k* values.
  public init(field name: String, in values: [QueryValue]) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    for value in values { try Self.validate(value, for: field) }
    self.init(.isIn(field, QueryValueSet(values)))
  }

  /// Makes a search for a regular expression in a field of text.
  ///
  /// The text is compared by Unicode scalars: `.` is one scalar and no line break; `é` does not match `e`
  /// with an accent after it. `\b` is a word boundary of Unicode. `^` and `$` are the ends of the text, with
  /// `(?m)` those of lines; `(?i)` ignores case. There is no look-behind. Nothing limits the time: nested
  /// repetitions as `(a*)*b` can take practically forever on a text of forty letters. Accept none from
  /// untrusted users.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - pattern: The expression, in the syntax of Swift's `Regex`.
  /// - Throws: ``QueryError`` `unknownField`, `invalidRegularExpression`, or `wrongType` for a field without
  ///   text.
  /// - Complexity: O(*f*) for *f* declared fields, and the reading of the expression.
  public init(field name: String, matches pattern: String) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    try Self.validateText(field)
    self.init(.pattern(field, FilterPattern(pattern)))
    try validate()
  }

  /// Makes a test whether the text of a field has a prefix.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - prefix: The prefix.
  /// - Throws: ``QueryError`` `unknownField`, or `wrongType` for a field without text.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(field name: String, hasPrefix prefix: String) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    try Self.validateText(field)
    self.init(.prefix(field, prefix))
  }

  /// Throws if the filter is invalid.
  ///
  /// - Throws: ``QueryError`` `invalidRegularExpression`, or `wrongType` for a pattern or a prefix of a field
  ///   without text.
  /// - Complexity: O(*p*) for *p* comparisons.
  public func validate() throws(QueryError) {
    try tree.forEachLeaf { (leaf) throws(QueryError) in
      switch leaf {
      case .pattern(let field, let pattern):
        try Self.validateText(field)
        guard pattern.isValid else {
          throw QueryError(
            .invalidRegularExpression, field.label,
            "\"\(pattern.source)\" is no regular expression")
        }
      case .prefix(let field, _): try Self.validateText(field)
      default: break
      }
    }
  }

  private static func validateText(_ field: QueryField<E>) throws(QueryError) {
    guard field.kinds.contains(.string) else {
      throw QueryError(
        .wrongType, field.label,
        "only texts match patterns and prefixes, and this field of \(E.modelTypeName) holds "
          + Self.names(field.kinds))
    }
  }

  private static func validate(
    _ value: QueryValue, for field: QueryField<E>
  ) throws(QueryError) {
    guard field.kinds.contains(value.kind) || value.kind == .null else {
      throw QueryError(
        .wrongType, field.label,
        "this field of \(E.modelTypeName) holds \(Self.names(field.kinds)) and is never \(value)")
    }
  }

  private static func names(_ kinds: Set<QueryValue.Kind>) -> String {
    kinds.ordered { $0.rawValue < $1.rawValue }.filter { $0 != .notANumber && $0 != .null }
      .map(\.pluralName).joined(separator: " or ")
  }
}
