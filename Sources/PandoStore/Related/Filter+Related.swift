import PandoModels

extension Filter {
  /// Entities that at least `count` models of a query name.
  ///
  /// ```swift
  /// let unpaid = Query(filter: \Order.isPaid == false)
  /// let debtors = try store.find(Query(filter: .has(unpaid, by: \.customer)))
  /// let loyal = Filter<Customer>.has(by: \Order.customer, atLeast: 10)
  /// let withoutOrders = !Filter<Customer>.has(by: \Order.customer)
  /// ```
  /// Pando normally reads the models first, and then the entities that they name. If the other conditions of the filter,
  /// by an index, find at most 1 000 entities, Pando reads those first, and only their models. An index of the field by
  /// which a model names the entity serves both ways.
  ///
  /// Only a store can apply it; elsewhere the query throws ``QueryError`` `needsStore`. A followed query keeps the key of
  /// each model that counts, so a commit costs only the models and entities that it changes. With an offset, a limit or
  /// `uniqueBy` in `query`, Pando reads the followed query again after each commit that changes a node of one of the types.
  ///
  /// - Parameters:
  ///   - query: The query for the models that count; its filter may contain such conditions too. An offset, a limit and
  ///     `uniqueBy` apply to all models together.
  ///   - keyPath: The key by which a model names the entity.
  ///   - count: The smallest number of models that name the entity; below 1 the filter selects all entities.
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
  ///   - query: The query for the models that count, as in the form for a key path.
  ///   - field: The field by which a model names the entity. A model counts once, even if its list names the entity
  ///     twice.
  ///   - count: The smallest number of models that name the entity, as in the form for a key path.
  /// - Returns: The filter.
  public static func has<S: Queryable, Reference: ModelReference<E>>(
    _ query: Query<S> = .all, by field: QuestionField<S, Reference>, atLeast count: Int = 1
  ) -> Filter {
    if count < 1 { return .all }
    return compare(.meets(RelatedCondition(query, by: field, atLeast: count)), .equal, true)
  }
}
