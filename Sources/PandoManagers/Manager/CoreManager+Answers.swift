public import PandoStore

extension CoreManager {
  /// Answers a question about the entities that a query gives.
  ///
  /// Where the one local store is on disk and no contract has to be checked, no entity is decoded for
  /// it: see `ModelSnapshot.answer(_:to:)`. Else it is answered from the entities themselves.
  ///
  /// ```swift
  /// let open = try await issues.answer(.count, to: Query(filter: \.status == .open)).count
  /// ```
  /// - Parameters:
  ///   - question: What is asked.
  ///   - query: About which entities.
  ///   - context: Where they are looked for.
  /// - Returns: The answer.
  /// - Throws: As ``search(withQuery:in:)``; ``QueryError`` `wrongType` for the sum of a field without
  ///   numbers.
  /// - Complexity: As `ModelSnapshot.answer(_:to:)` where that answers; else as ``search(withQuery:in:)``, of
  ///   which all is read.
  public func answer(
    _ question: Question<E>, to query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> QueryAnswer {
    try question.validate()
    let told = try fromDisk(query, context) { try $0.answer(question, to: query) }
    if let told { return told }
    return question.answer(try await search(withQuery: query, in: context).entities)
  }

  /// Returns the identifiers of the entities that a query gives, in its order.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Where they are looked for.
  /// - Returns: The identifiers.
  /// - Throws: As ``search(withQuery:in:)``.
  /// - Complexity: As `ModelSnapshot.identifiers(matching:after:)` where that answers; else as
  ///   ``search(withQuery:in:)``.
  public func identifiers(
    matching query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> [EntityIdentifier<E>] {
    let told = try fromDisk(query, context) { try $0.identifiers(matching: query) }
    if let told { return told }
    return try await search(withQuery: query, in: context).entities.map(\.id)
  }

  /// Returns the entities of a query that come after one that was shown: the next page.
  ///
  /// As `ModelSnapshot.entities(matching:after:)`: nothing comes twice and nothing is left out, whatever
  /// is inserted meanwhile. Where entities are not on disk, or a server has ordered them and `id` is no
  /// key of the order, the whole result is read for it.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - entity: The last one that was shown.
  ///   - context: Where they are looked for.
  /// - Returns: The next ones.
  /// - Throws: As ``search(withQuery:in:)``; ``QueryError`` `lostPlace` if the entity has been deleted and
  ///   its place is not known without it.
  /// - Complexity: As `ModelSnapshot.entities(matching:after:)` where that answers; else as
  ///   ``search(withQuery:in:)`` without offset and limit.
  public func search(
    withQuery query: Query<E>, after entity: E, in context: ReadContext<E> = .local
  ) async throws -> QueryResult<E> {
    let told = try fromDisk(query, context) { try $0.entities(matching: query, after: entity) }
    if let told { return told }
    try query.validate()
    return try query.window(
      of: try await search(withQuery: query.whole, in: context).entities, after: entity)
  }

  /// Asks a snapshot, where that says what a search would; else `nil`.
  private func fromDisk<Answer>(
    _ query: Query<E>, _ context: ReadContext<E>, _ body: (ModelSnapshot) throws -> Answer
  ) throws -> Answer? {
    guard case .local = context.source, context.contract == nil, stack.local.count == 1,
      query.identifiers == nil, let store = stack.followedStore
    else { return nil }
    let access = try AccessCheck(context.accessValidator, E.self)
    let answer = try store.read(body)
    try access.confirm()
    return answer
  }
}
