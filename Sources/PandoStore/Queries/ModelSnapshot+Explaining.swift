extension ModelSnapshot {
  /// Says how a query is answered.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` when the bytes on disk are
  ///   damaged.
  /// - Complexity: O(*r*) for *r* rows of indexes, which are counted to choose between them. Up to 64 records
  ///   are decoded for each field whose coded name this process has not verified yet.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    var related: [QueryPlan]? = []
    let query = try resolved(query, &related)
    let stored = try proven(query)
    var plan = try plan(
      for: stored.query, withNodesOf: NamespaceTypes.others(of: E.self),
      identifierCount: query.nodeIdentifiers?.count)
    plan.related = related ?? []
    if plan.reason == nil { plan.reason = try missingIndex(for: query) }
    return plan
  }

  /// Says how a question about the entities of a query is answered.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The plan.
  /// - Throws: As ``answer(_:to:)``.
  /// - Complexity: As ``explain(_:)``.
  public func explain<E: Queryable, Answer>(
    _ question: Question<E, Answer>, to query: Query<E>
  ) throws -> QueryPlan {
    var related: [QueryPlan]? = []
    let query = try resolved(query, &related)
    var plan: QueryPlan
    if try isDeterminedByRecords(query, isInOrder: query.hasWindow) {
      let (stored, asked) = try proven(query) { $0.question(question.measure) }
      plan = try self.plan(for: asked, to: stored.query)
    } else {
      plan = try explain(query)
    }
    plan.related = related ?? []
    return plan
  }

  /// Says which index that a type declares for a field of a query the store lacks.
  private func missingIndex<E: Queryable>(for query: Query<E>) throws -> String? {
    var names = query.filter.tree.fields.compactMap(\.name)
    for order in query.order {
      if case .field(let field, _) = order.key, let name = field.name { names.append(name) }
    }
    let wanted = E.declaredIndexes.filter { names.contains($0.fields[0]) }
    if wanted.isEmpty { return nil }
    let present = Set(try indexes(ofType: E.modelTypeName).map(\.fields))
    return wanted.first { !present.contains($0.fields) }.map { index in
      "the store lacks the index on \(index.field) that \(index.typeName) declares; "
        + "addIndexes(of:) makes it"
    }
  }
}

extension ModelStore {
  /// Says how a query would be answered now.
  ///
  /// - Parameter query: The query.
  /// - Returns: The plan.
  /// - Throws: `QueryError` as `validate()`; ``StoreError`` when the bytes on disk are
  ///   damaged.
  /// - Complexity: As `ModelSnapshot.explain(_:)`.
  public func explain<E: Queryable>(_ query: Query<E>) throws -> QueryPlan {
    try read { try $0.explain(query) }
  }

  /// Says how a question about the entities of a query would be answered now.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The plan.
  /// - Throws: As ``answer(_:to:)``.
  /// - Complexity: As `ModelSnapshot.explain(_:)`.
  public func explain<E: Queryable, Answer>(
    _ question: Question<E, Answer>, to query: Query<E>
  ) throws -> QueryPlan {
    try read { try $0.explain(question, to: query) }
  }
}
