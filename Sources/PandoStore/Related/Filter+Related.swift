import PandoModels

extension Filter {
  /// Entities that models of a query name.
  ///
  /// ```swift
  /// let unpaid = Query(filter: \Order.isPaid == false)
  /// let debtors = try store.find(Query(filter: .has(unpaid, by: \.customer)))
  /// let loyal = Filter<Customer>.has(by: \Order.customer, atLeast: 10)
  /// let withoutOrders = !Filter<Customer>.has(by: \Order.customer)
  /// ```
  /// Pando finds the names first, and then the entities. If the other conditions of the filter leave few entities, Pando
  /// looks for the models of these only. An index of the field by which a model names the entity serves both.
  ///
  /// Only a store answers it; anywhere else the query throws ``QueryError`` `needsStore`, and ``matches(_:)`` returns
  /// `false`. Pando reads such a followed query again after each commit that changes a node of one of the types.
  ///
  /// - Parameters:
  ///   - query: Which models count; its filter may contain such conditions too. An offset, a limit and `uniqueBy` apply to
  ///     all models together.
  ///   - keyPath: The key by which a model names the entity.
  ///   - count: The smallest number of models of one entity.
  /// - Returns: The filter.
  public static func has<S: Queryable, Reference: ModelReference<E>>(
    _ query: Query<S> = .all, by keyPath: any KeyPath<S, Reference> & Sendable,
    atLeast count: Int = 1
  ) -> Filter { has(query, by: .field(keyPath), atLeast: count) }

  /// Entities that models of a query name by a child, or by an element of a list.
  ///
  /// ```swift
  /// let openTeams = try store.find(Query(filter: .has(open, by: .child(\Issue.team))))
  /// ```
  /// - Parameters:
  ///   - query: Which models count, as in the form for a key path.
  ///   - field: The field by which a model names the entity. Of several equal names in a list one counts.
  ///   - count: The smallest number of models of one entity.
  /// - Returns: The filter.
  public static func has<S: Queryable, Reference: ModelReference<E>>(
    _ query: Query<S> = .all, by field: QuestionField<S, Reference>, atLeast count: Int = 1
  ) -> Filter {
    if count < 1 { return .all }
    return compare(.meets(RelatedCondition(query, by: field, atLeast: count)), .equal, true)
  }
}

/// The condition that models of a query name an entity.
private struct RelatedCondition<S: Queryable>: ResolvedCondition {
  private let related: RelatedAnswer<S, Int>
  private let field: QueryField<S>
  private let minimum: Int

  init<Reference: ModelReference>(
    _ query: Query<S>, by field: QuestionField<S, Reference>, atLeast minimum: Int
  ) {
    related = RelatedAnswer(.count, of: query, by: field)
    (self.field, self.minimum) = (field.field, minimum)
  }

  func validate() throws(QueryError) { try related.validate() }

  var namespaces: Set<String>? { related.query.namespaces }

  var looksIntoNodes: Bool { field.mayLeadThroughNodes || related.query.looksIntoNodes }

  func identifiers(
    among keys: [QueryValue]?, in snapshot: ModelSnapshot, _ plans: inout [QueryPlan]?
  ) throws -> [String] {
    let query = keys.map { related.query(of: $0) } ?? related.query
    if plans != nil { plans?.append(try snapshot.explain(related.grouped, to: query)) }
    var identifiers: [String] = []
    for (values, tally) in try snapshot.answer(related.grouped, to: query).groups
    where try related.answer(tally) >= minimum {
      if case .one(.string(let identifier)) = values { identifiers.append(identifier) }
    }
    return identifiers.sorted()
  }

  static func == (left: Self, right: Self) -> Bool {
    left.related.query == right.related.query && left.field == right.field
      && left.minimum == right.minimum
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(related.query)
    hasher.combine(field)
    hasher.combine(minimum)
  }
}
