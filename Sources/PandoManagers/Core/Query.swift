import FoundationEssentials
import PandoModels
package import PandoStore

/// Which entities are asked for, in what order, and how many.
///
/// ```swift
/// Query(filter: \Book.year > 1990, order: [.descending(\.year), .ascending(\.title)], limit: 20)
/// ```
/// Of the entities that match the filter, in natural order, uniqueness keeps the first of each value;
/// then they are ordered, and offset and limit cut out a window, which is grouped.
public struct Query<E: Queryable>: Hashable, Sendable {
  /// Which entities match.
  public var filter: Filter<E>
  /// By which keys they are ordered, the most important first; none is the natural order.
  public var order: [Order<E>]
  /// The field whose values make groups; `nil` for one group of all.
  public var groupedBy: QueryField<E>?
  /// The fields of whose values only the first entity each is kept; none keeps all.
  public var uniqueBy: [QueryField<E>]
  /// How many are left out at the beginning.
  public var offset: Int
  /// How many are given at most; `nil` for all.
  public var limit: Int?
  /// Whether a record that can't be decoded is left out, and told in ``QueryResult/undecodable``; else
  /// its error is thrown.
  public var skipsUndecodable = false

  /// Makes a query; all entities of the type unless more is said.
  ///
  /// - Parameters:
  ///   - filter: Which entities match.
  ///   - order: By which keys they are ordered, the most important first.
  ///   - groupedBy: The field whose values make groups.
  ///   - uniqueBy: The fields of whose values only the first entity each is kept.
  ///   - offset: How many are left out at the beginning.
  ///   - limit: How many are given at most; `nil` for all.
  public init(
    filter: Filter<E> = .all, order: [Order<E>] = [], groupedBy: QueryField<E>? = nil,
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
  /// Followed queries leave them out anyway.
  public var skippingUndecodable: Query {
    var query = self
    query.skipsUndecodable = true
    return query
  }
}

extension Query where E: Entity {
  /// Asks for entities by their identifiers, in their order.
  ///
  /// - Parameter ids: The identifiers.
  public init(ids: [EntityIdentifier<E>]) {
    self.init(filter: .ids(ids), order: [.identifiers(ids)])
  }

  /// The identifiers asked for, if the filter asks for identifiers and for nothing else.
  public var identifiers: [EntityIdentifier<E>]? {
    identifierValues?.compactMap { EntityIdentifier($0) }
  }
}

extension Query {
  /// The identifiers of the nodes asked for, if the filter asks for identifiers and for nothing else.
  var nodeIdentifiers: [String]? { identifierValues?.compactMap(E.nodeIdentifier) }

  /// The values of the identifiers asked for.
  private var identifierValues: [QueryValue]? {
    switch filter.tree {
    case .compare(let field, .equal, let value) where field.isIdentifier: [value]
    case .isIn(let field, let values) where field.isIdentifier: values.values
    default: nil
    }
  }

  /// Whether every entity that matches is given: no offset, no limit, no uniqueness.
  public var isUnbounded: Bool { offset == 0 && limit == nil && uniqueBy.isEmpty }

  /// Checks what the compiler could not.
  ///
  /// - Throws: ``QueryError`` `negativeLimit`, `negativeOffset`, `invalidRegularExpression`,
  ///   `wrongType`.
  /// - Complexity: O(*p*) for *p* comparisons of the filter and keys of the order.
  public func validate() throws(QueryError) {
    if let limit, limit < 0 {
      throw QueryError(.negativeLimit, E.modelTypeName, "a query can't have the limit \(limit)")
    }
    if offset < 0 {
      throw QueryError(.negativeOffset, E.modelTypeName, "a query can't have the offset \(offset)")
    }
    for case .field(let field, _) in order.lazy.map(\.key) where field.namesSeveral {
      throw QueryError(
        .wrongType, field.label,
        "this field of \(E.modelTypeName) has several values, which are no place in an order")
    }
    try filter.validate()
  }

  /// Whether an entity matches the filter.
  ///
  /// - Parameter entity: The entity.
  /// - Returns: Whether it does.
  public func matches(_ entity: E) -> Bool { filter.matches(entity) }

  /// Answers the query from entities in memory.
  ///
  /// - Parameter entities: All there are, in natural order.
  /// - Returns: Those asked for.
  /// - Throws: ``QueryError`` as ``validate()``.
  /// - Complexity: O(*n*) for *n* entities, and O(*m* log *m*) where *m* of them match and have to be ordered,
  ///   whatever the limit.
  public func apply(to entities: [E]) throws(QueryError) -> QueryResult<E> {
    try validate()
    if filter.needsStore {
      throw QueryError(
        .needsStore, E.modelTypeName,
        "only a store on disk knows who holds an entity, and whether a server has it")
    }
    var found = entities.filter(filter.matches)
    if !uniqueBy.isEmpty {
      var seen: Set<[QueryValue]> = []
      found = found.filter { entity in
        seen.insert(uniqueBy.map { $0.value(entity) }).inserted
      }
    }
    return window(of: EntitySorter(order).sorted(found))
  }

  /// Cuts out what offset and limit say, and makes groups.
  package func window(of ordered: [E]) -> QueryResult<E> {
    let rest = ordered.dropFirst(offset)
    return QueryResult(Array(limit.map { rest.prefix($0) } ?? rest), groupedBy: groupedBy)
  }
}

extension Query {
  /// All that match, in whatever order.
  var unordered: Query {
    var query = Query(filter: filter)
    query.skipsUndecodable = skipsUndecodable
    return query
  }
}

extension EntityIdentifier {
  /// The identifier with a value, if it can be one.
  package init?(_ value: QueryValue) {
    switch value {
    case .integer(let number): self.init(text: String(number))
    case .string(let text): self.init(text: text)
    case .uuid(let uuid): self.init(text: uuid.uuidString)
    default: return nil
    }
    // An integer and the text of its digits are two values.
    guard queryValue == value else { return nil }
  }
}
