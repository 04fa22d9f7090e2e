import PandoModels
public import PandoStore
import PandoSystem

/// Which entities a query is about.
///
/// Written with operators over key paths, so that the compiler checks names and types:
///
/// ```swift
/// \Book.year > 1990 && (\Book.title ~= "^The" || !(\Book.id >> seen))
/// ```
/// The operators are `== != < <= > >=`, `~=` (a regular expression is found), `>>` (contained in),
/// `&& || !`, and ``hasPrefix(_:_:)``. By order only values of one kind compare: null is neither less
/// nor greater than a number.
public struct Filter<E: Queryable>: Hashable, Sendable {
  package let tree: FilterTree<QueryField<E>>

  package init(_ tree: FilterTree<QueryField<E>>) { self.tree = tree }

  /// Every entity.
  public static var all: Filter { Filter(.all) }

  /// Models whose nodes have certain identifiers.
  ///
  /// - Parameter identifiers: The identifiers of the nodes: `Book:7` of an entity.
  /// - Returns: The filter.
  public static func identifiers(_ identifiers: [String]) -> Filter {
    Filter(.isIn(.identifier, QueryValueSet(identifiers.compactMap(E.identifierValue))))
  }

  /// A text that begins with another, byte by byte.
  ///
  /// - Parameters:
  ///   - keyPath: Where the text is in the entity.
  ///   - prefix: What it begins with.
  /// - Returns: The filter.
  public static func hasPrefix<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ prefix: String
  ) -> Filter { Filter(.prefix(QueryField(keyPath), prefix)) }

  /// A text in which a regular expression is found; the word for `~=`, whose page says what expressions there are.
  ///
  /// ```swift
  /// let dunes = Query<Book>(filter: .matches(\.title, "(?i)^dune"))
  /// ```
  /// - Parameters:
  ///   - keyPath: Where the text is in the entity.
  ///   - pattern: The expression, in the syntax of Swift's `Regex`.
  /// - Returns: The filter.
  public static func matches<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ pattern: String
  ) -> Filter { keyPath ~= pattern }

  /// One of several values; the word for `>>`.
  ///
  /// ```swift
  /// let old = Query<Book>(filter: .isIn(\.year, [1965, 1969]))
  /// ```
  /// - Parameters:
  ///   - keyPath: Where the value is in the entity.
  ///   - values: The values.
  /// - Returns: The filter.
  public static func isIn<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ values: some Sequence<Value>
  ) -> Filter { keyPath >> values }

  /// Entities that hold a node, wherever in them.
  ///
  /// The dependency index of a store knows them: it needs no other.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The filter.
  public static func holds(_ identifier: String) -> Filter {
    compare(.children, .equal, identifier)
  }

  /// Entities that a node holds: its children of this type, wherever in it.
  ///
  /// ```swift
  /// let labels = Query<Label>(filter: .held(by: issue.id), order: [.ascending(\.name)])
  /// ```
  /// Only a store on disk knows who holds an entity: elsewhere, with a server in the context for example, such a
  /// query throws ``QueryError`` `needsStore`, and ``matches(_:)`` says no. A followed one is read again
  /// after each commit that changes a node.
  ///
  /// - Parameter identifier: The identifier of the node that holds them.
  /// - Returns: The filter.
  public static func held(by identifier: String) -> Filter {
    compare(.holders, .equal, identifier)
  }

  /// Entities whose ``SynchronizationState`` is a certain one: `synced`, `unsynced`, `pending` or `refused`.
  ///
  /// ```swift
  /// let refused = Query<Issue>(filter: .synchronizationState(.refused))
  /// ```
  /// Only a store on disk knows it; elsewhere such a query throws ``QueryError`` `needsStore`. A followed
  /// one is read again when the state of an entity changes. `pending` and `refused` are found without looking at other
  /// entities; for `synced` and `unsynced` the state of each entity of the type is looked up.
  ///
  /// - Parameter state: The state.
  /// - Returns: The filter.
  public static func synchronizationState(_ state: SynchronizationState) -> Filter {
    compare(.synchronization, .equal, state.rawValue)
  }

  /// Entities that another entity holds, wherever in it.
  ///
  /// - Parameter id: The identifier of the one that holds them.
  /// - Returns: The filter.
  public static func held<Parent: Entity>(by id: EntityIdentifier<Parent>) -> Filter {
    held(by: id.modelIdentifier)
  }

  /// Entities whose field is a certain child.
  ///
  /// ```swift
  /// let mine = Query(filter: .holds(\Issue.assignee, "User:ada") && \Issue.status == .open)
  /// ```
  /// The dependency index of a store knows who holds a node; an index of `child(_:)` together
  /// with other fields finds them in the order of those.
  ///
  /// - Parameters:
  ///   - keyPath: Where the child is in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ identifier: String
  ) -> Filter { compare(.child(keyPath), .equal, identifier) }

  /// Entities whose field, which may be nil, is a certain child.
  ///
  /// - Parameters:
  ///   - keyPath: Where the child is in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ identifier: String
  ) -> Filter { compare(.child(keyPath), .equal, identifier) }

  /// Entities in whose list a certain child is.
  ///
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - identifier: The identifier of the child's node.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ identifier: String
  ) -> Filter where List.Element: SimpleModel { compare(.each(keyPath), .equal, identifier) }

  /// Entities whose field is a certain entity.
  ///
  /// - Parameters:
  ///   - keyPath: Where the other entity is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities whose field, which may be nil, is a certain entity.
  ///
  /// - Parameters:
  ///   - keyPath: Where the other entity is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<Child: Entity>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ id: EntityIdentifier<Child>
  ) -> Filter { holds(keyPath, id.modelIdentifier) }

  /// Entities in whose list a certain entity is.
  ///
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - id: The identifier of the other one.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ id: EntityIdentifier<List.Element>
  ) -> Filter where List.Element: Entity { holds(keyPath, id.modelIdentifier) }

  /// Entities in whose list a value is.
  ///
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - value: The value.
  /// - Returns: The filter.
  public static func contains<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ value: List.Element
  ) -> Filter where List.Element: QueryRepresentable { compare(.each(keyPath), .equal, value) }

  /// Entities in whose list an element has a value in a field.
  ///
  /// ```swift
  /// let bugs = Query(filter: .contains(\Issue.labels, \.name, "bug"))
  /// ```
  /// - Parameters:
  ///   - keyPath: Where the list is in the entity.
  ///   - element: Where the value is in an element.
  ///   - value: The value.
  /// - Returns: The filter.
  public static func contains<List: Collection & SendableMetatype, Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, List> & Sendable,
    _ element: any KeyPath<List.Element, Value> & Sendable, _ value: Value
  ) -> Filter { compare(.each(keyPath, element), .equal, value) }

  /// Entities whose field stands in a relation to a value; of several values, one of them.
  ///
  /// ```swift
  /// let named = Filter.compare(.each(\Issue.labels, \.name), .greater, "b")
  /// ```
  /// - Parameters:
  ///   - field: The field.
  ///   - comparison: The relation.
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
  /// Entities with certain identifiers.
  ///
  /// - Parameter ids: The identifiers.
  /// - Returns: The filter.
  public static func ids(_ ids: [EntityIdentifier<E>]) -> Filter { \E.id >> ids }
}

/// Filters by name, for tools.
extension Filter {
  /// Compares a field with a value.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - comparison: How.
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

  /// Looks for a field's value among others.
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

  /// Looks for a regular expression in a field that holds a text.
  ///
  /// It is compared Unicode scalar by scalar: `.` is one scalar and no line break, `é` does not match `e` with an
  /// accent after it. `\b` lies where Unicode's rules begin or end a word. `^` and `$` are the ends of the text;
  /// `(?m)` makes them those of lines, `(?i)` ignores case. There is no look-behind.
  /// Nothing limits how long an expression takes: one of repetitions inside repetitions, as `(a*)*b`, can take
  /// practically for ever on a text of forty letters. Take none from strangers.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - pattern: The expression, in the syntax of Swift's `Regex`.
  /// - Throws: ``QueryError`` `unknownField`, `invalidRegularExpression`, or `wrongType` if the field
  ///   holds no text.
  /// - Complexity: O(*f*) for *f* declared fields, and the reading of the expression.
  public init(field name: String, matches pattern: String) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    try Self.validateText(field)
    self.init(.pattern(field, FilterPattern(pattern)))
    try validate()
  }

  /// Looks at what a field that holds a text begins with.
  ///
  /// - Parameters:
  ///   - name: The name of a declared field, or `id`.
  ///   - prefix: What it begins with.
  /// - Throws: ``QueryError`` `unknownField`, or `wrongType` if the field holds no text.
  /// - Complexity: O(*f*) for *f* declared fields.
  public init(field name: String, hasPrefix prefix: String) throws(QueryError) {
    let field = try QueryField<E>(named: name)
    try Self.validateText(field)
    self.init(.prefix(field, prefix))
  }

  /// Checks what the compiler could not.
  ///
  /// - Throws: ``QueryError`` `invalidRegularExpression`, or `wrongType` for a regular expression
  ///   over a field that holds no text.
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
