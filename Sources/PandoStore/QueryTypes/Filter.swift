import PandoModels
import PandoSystem

/// A condition that selects entities.
///
/// It is written with operators over key paths, so the compiler checks names and types:
///
/// ```swift
/// \Book.year > 1990 && (\Book.title ~= "^The" || !(\Book.id >> seen))
/// ```
/// The operators are `== != < <= > >=`, `~=` (contains a match of a regular expression), `>>` (is one of several
/// values) and `&& || !`. The static methods are the other conditions. Null equals null only, and is neither less nor
/// greater than any value.
public struct Filter<E: Queryable>: Hashable, Sendable {
  package let tree: FilterTree<QueryField<E>>

  package init(_ tree: FilterTree<QueryField<E>>) { self.tree = tree }

  /// All entities.
  public static var all: Filter { Filter(.all) }

  /// Models with these node identifiers.
  ///
  /// - Parameter identifiers: The identifiers of the nodes, such as `Book:7`.
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

  /// Texts with a prefix.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the text in the entity.
  ///   - prefix: The prefix.
  ///   - options: The differences that the comparison ignores. No index serves this form, even if `options` is empty.
  /// - Returns: The filter.
  public static func hasPrefix<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ prefix: String, _ options: TextComparison
  ) -> Filter {
    Filter(.part(QueryField(keyPath), TextPart(prefix, options, isPrefix: true)))
  }

  /// Texts that contain another one.
  ///
  /// ```swift
  /// let dunes = Query<Book>(filter: .contains(\.title, "dune", .caseInsensitive))
  /// ```
  /// The text is searched for as it is, not as a regular expression, and also inside words. No index serves
  /// it.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the text in the entity.
  ///   - text: The other text; an empty one is in every text.
  ///   - options: The differences that the comparison ignores; none by default.
  /// - Returns: The filter.
  public static func contains<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ text: String, _ options: TextComparison = []
  ) -> Filter { Filter(.part(QueryField(keyPath), TextPart(text, options))) }

  /// A text that contains a match of a regular expression; the named form of `~=`, which describes the syntax.
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

  /// One of several values; the named form of `>>`.
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

  /// Entities that have a node as a child, in any field.
  ///
  /// Every store lists the parents of each node in its dependency index, so these queries need no declared index.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The filter.
  public static func holds(_ identifier: String) -> Filter {
    compare(.children, .equal, identifier)
  }

  /// Children of a node, in any of its fields.
  ///
  /// ```swift
  /// let labels = Query<Label>(filter: .held(by: issue.id), order: [.ascending(\.name)])
  /// ```
  /// Only a store can apply it. Elsewhere, as in ``Query/apply(to:)``, ``matches(_:)`` or at a server, it throws
  /// ``QueryError`` `needsStore`. Pando reads such a followed query again after each commit that changes a node.
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
  /// Only a store can apply it; elsewhere the query throws ``QueryError`` `needsStore`. Pando reads such a followed
  /// query again when the state of an entity changes. A query for `pending` or `refused` reads no other entities. A
  /// query for `synced` or `unsynced` looks up the state of each entity of the type.
  ///
  /// - Parameter state: The state.
  /// - Returns: The filter.
  public static func synchronizationState(_ state: SynchronizationState) -> Filter {
    compare(.synchronization, .equal, state.rawValue)
  }

  /// Entities whose field is a certain child.
  ///
  /// ```swift
  /// let mine = Query(filter: .holds(\Issue.assignee, "User:ada") && \Issue.status == .open)
  /// ```
  /// It needs no declared index, as ``holds(_:)-(String)``. An index of `child(_:)` and other fields finds the entities
  /// in the order of these fields.
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

  /// Entities with a list that contains a value.
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
  ) -> Filter {
    let value = value.queryValue
    return Filter(.compare(field, comparison, field.isFolded ? value.folded : value))
  }

  /// Whether an entity matches.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Whether it does.
  /// - Throws: ``QueryError`` as ``validate()``; `needsStore` for a condition that only a store can check.
  /// - Complexity: O(*p*) for *p* comparisons. For many entities ``Query/apply(to:)`` checks the filter once.
  public func matches(_ entity: E) throws(QueryError) -> Bool {
    try validate()
    if needsStore { throw .onlyInStore(E.modelTypeName) }
    return accepts(entity)
  }

  /// Whether an entity meets a valid filter without conditions that only a store can check.
  package func accepts(_ entity: E) -> Bool { tree.matches { $0.value(entity) } }
}

/// Filters by name, for tools.
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
  /// `(?m)` those of lines; `(?i)` ignores case. There is no look-behind and no limit of time:
  /// nested repetitions as `(a*)*b` can take practically forever on a text of forty letters. Accept no expressions
  /// from untrusted users.
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

  /// Checks the fields and patterns that the compiler can't check.
  ///
  /// - Throws: ``QueryError`` `invalidRegularExpression`; `wrongType` for a pattern, a prefix or a search of a field
  ///   without text; `unknownField` for a search without declared fields; the error of the query in a condition on
  ///   related models.
  /// - Complexity: O(*p*) for *p* comparisons.
  public func validate() throws(QueryError) {
    try tree.forEachLeaf { (leaf) throws(QueryError) in
      switch leaf {
      case .compare(let field, _, _): try field.condition?.validate()
      case .pattern(let field, let pattern):
        try Self.validateText(field)
        guard pattern.isValid else {
          throw QueryError(
            .invalidRegularExpression, field.label,
            "\"\(pattern.source)\" is no regular expression")
        }
      case .prefix(let field, _), .part(let field, _): try Self.validateText(field)
      case .search(let fields, let search):
        guard !fields.isEmpty else {
          throw QueryError(
            .unknownField, search.text,
            "a search names declared fields of \(E.modelTypeName), or the type declares .text(…)")
        }
        for field in fields { try Self.validateText(field) }
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
