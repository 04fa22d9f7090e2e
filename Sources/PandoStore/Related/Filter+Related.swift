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
  /// `false`. A followed query keeps the key of each of these models, so a commit costs it the models and entities that
  /// the commit changes. With an offset, a limit or `uniqueBy` in `query`, Pando reads the followed query again after each
  /// commit that changes a node of one of the types.
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
