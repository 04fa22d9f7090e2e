import FoundationEssentials
import PandoModels

/// Selects models of a type by a filter, an order, an offset and a limit.
///
/// ```swift
/// let query = Query(
///   filter: \Book.year > 1990, order: [.descending(\.year), .ascending(\.title)], limit: 20)
/// let books = try await store.find(query).entities
/// ```
/// An entity is a model of a result. Pando applies the parts of a query in this order:
///
/// 1. The filter selects entities, in *natural order*: that in which they were first stored, or that of a server.
/// 2. `uniqueBy` keeps the first entity of each combination of values.
/// 3. `order` sorts; entities with equal values stay in natural order.
/// 4. `offset` and `limit` select a window, and `groupedBy` divides it into groups.
///
/// For the number or the sum of entities use a ``Question``; for a node with a known key use `store.get(_:)`.
public struct Query<E: Queryable>: Hashable, Sendable {
  /// The condition for entities.
  public var filter: Filter<E>
  /// The keys of the order, the most important first; empty for natural order.
  public var order: [QueryOrder<E>]
  /// The field whose values form the groups; `nil` for one group.
  public var groupedBy: QueryField<E>?
  /// The fields by which entities are unique: the first entity of each combination of values stays; empty to keep all.
  public var uniqueBy: [QueryField<E>]
  /// The number of entities left out at the beginning.
  public var offset: Int
  /// The largest number of entities in the result; `nil` for all.
  public var limit: Int?
  /// Whether a record that can't be decoded is left out and listed in ``QueryResult/undecodable``.
  ///
  /// Otherwise its error is thrown.
  public var skipsUndecodable = false

  /// Makes a query; without arguments it selects all entities of the type.
  ///
  /// - Parameters:
  ///   - filter: Which entities match.
  ///   - order: By which keys they are ordered, the most important first.
  ///   - groupedBy: The field whose values form the groups.
  ///   - uniqueBy: The fields by which entities are unique: the first entity of each combination of values stays.
  ///   - offset: The number of entities left out at the beginning.
  ///   - limit: The largest number of entities in the result; `nil` for all.
  public init(
    filter: Filter<E> = .all, order: [QueryOrder<E>] = [], groupedBy: QueryField<E>? = nil,
    uniqueBy: [QueryField<E>] = [], offset: Int = 0, limit: Int? = nil
  ) {
    self.filter = filter
    self.order = order
    self.groupedBy = groupedBy
    self.uniqueBy = uniqueBy
    self.offset = offset
    self.limit = limit
  }

  /// All entities of the type in natural order.
  public static var all: Query { Query() }

  /// The same query, without the records that can't be decoded.
  ///
  /// ```swift
  /// let result = try await issues.search(withQuery: .all.skippingUndecodable)
  /// for record in result.undecodable { log("\(record)") }
  /// ```
  /// Followed queries always leave them out.
  public var skippingUndecodable: Query {
    var query = self
    query.skipsUndecodable = true
    return query
  }
}

extension Query {
  /// The identifiers of the nodes asked for, if the filter asks for identifiers and for nothing else.
  package var nodeIdentifiers: [String]? { identifierValues?.compactMap(E.nodeIdentifier) }

  /// The values of the identifiers asked for.
  package var identifierValues: [QueryValue]? {
    switch filter.tree {
    case .compare(let field, .equal, let value) where field.isIdentifier: [value]
    case .isIn(let field, let values) where field.isIdentifier: values.values
    default: nil
    }
  }

  /// Whether the result has all matches: no offset, no limit, no uniqueness.
  public var isUnbounded: Bool { offset == 0 && limit == nil && uniqueBy.isEmpty }

  /// Checks the values of the query that the compiler can't check.
  ///
  /// - Throws: ``QueryError`` `negativeLimit`, `negativeOffset`, `noSearch`, or as ``Filter/validate()``; `wrongType`
  ///   for an order by a field with several values.
  /// - Complexity: O(*p*) for *p* comparisons of the filter and keys of the order.
  public func validate() throws(QueryError) {
    if let limit, limit < 0 {
      throw QueryError(.negativeLimit, E.modelTypeName, "a query can't have the limit \(limit)")
    }
    if offset < 0 {
      throw QueryError(.negativeOffset, E.modelTypeName, "a query can't have the offset \(offset)")
    }
    for order in order {
      // A key path of a generic type would be made at run time, also for an empty order.
      switch order.key {
      case .field(let field, _) where field.namesSeveral:
        throw QueryError(
          .wrongType, field.label,
          "this field of \(E.modelTypeName) has several values, which are no place in an order")
      case .relevance where filter.tree.requiredSearch == nil:
        throw QueryError(
          .noSearch, E.modelTypeName,
          "an order by relevance needs a search in the filter, alone or joined by &&")
      default: continue
      }
    }
    try filter.validate()
  }

  /// Answers the query from entities in memory.
  ///
  /// - Parameter entities: All entities, in natural order.
  /// - Returns: The result.
  /// - Throws: ``QueryError`` as ``validate()``; `needsStore` for a filter or an order that only a store can apply,
  ///   such as `.has(_:by:)`.
  /// - Complexity: O(*n*) for *n* entities, and O(*m* log *m*) to order *m* matches, whatever the limit.
  public func apply(to entities: [E]) throws(QueryError) -> QueryResult<E> {
    try apply(to: entities, preferring: nil)
  }

  /// Answers the query from entities in memory; uniqueness keeps a preferred entity if there is one.
  package func apply(
    to entities: [E], preferring isPreferred: ((E) -> Bool)?
  ) throws(QueryError) -> QueryResult<E> {
    try validate()
    if needsStore { throw .onlyInStore(E.modelTypeName) }
    return select(from: entities.filter(filter.accepts), preferring: isPreferred)
  }

  /// The query for all matches, in natural order, without uniqueness and groups.
  package var matches: Query {
    var matches = whole
    matches.uniqueBy = []
    matches.order = []
    return matches
  }

  /// Applies uniqueness, order, offset, limit and groups to the result of ``matches``.
  ///
  /// - Parameters:
  ///   - matches: The matches, in natural order.
  ///   - isPreferred: Of entities with equal values uniqueness keeps the first preferred one; without
  ///     one, the first.
  /// - Returns: The result.
  package func select(
    from matches: [E], preferring isPreferred: ((E) -> Bool)? = nil
  ) -> QueryResult<E> {
    let found = uniqueBy.isEmpty ? matches : unique(matches, preferring: isPreferred)
    return window(of: EntitySorter(order).sorted(found))
  }

  private func unique(_ matches: [E], preferring isPreferred: ((E) -> Bool)?) -> [E] {
    var kept: [[QueryValue]: (place: Int, isPreferred: Bool)] = [:]
    for (place, entity) in matches.enumerated() {
      let values = uniqueBy.map { $0.value(entity) }
      let known = kept[values]
      if known?.isPreferred ?? false || known != nil && isPreferred == nil { continue }
      let prefers = isPreferred?(entity) ?? true
      if known == nil || prefers { kept[values] = (place, prefers) }
    }
    return kept.values.map { $0.place }.sorted().map { matches[$0] }
  }

  /// Applies offset, limit and groups to ordered matches.
  package func window(of ordered: [E]) -> QueryResult<E> {
    let rest = ordered.dropFirst(offset)
    return QueryResult(Array(limit.map { rest.prefix($0) } ?? rest), groupedBy: groupedBy)
  }
}

extension Query {
  /// The query without order and window.
  var unordered: Query {
    var query = Query(filter: filter)
    query.skipsUndecodable = skipsUndecodable
    return query
  }
}
