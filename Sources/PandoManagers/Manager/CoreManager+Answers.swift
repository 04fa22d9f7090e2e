public import PandoStore

extension CoreManager {
  /// Answers a question about the entities that match a query.
  ///
  /// If the one local store is on disk and the context has no contract, the answer needs no decoded
  /// entity: see `ModelSnapshot.answer(_:to:)`. Otherwise the manager reads the entities and answers from
  /// them.
  ///
  /// ```swift
  /// let open = try await issues.answer(.count, to: Query(filter: \.status == .open))  // Int
  /// ```
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  ///   - context: The stores to read.
  /// - Returns: The answer, in the type of the question.
  /// - Throws: As ``search(withQuery:in:)``; `QueryError` `overflow` for a sum that does not fit its
  ///   type, and `wrongType` as in `ModelSnapshot.answer(_:to:)`.
  /// - Complexity: As `ModelSnapshot.answer(_:to:)` if the disk answers; else as
  ///   ``search(withQuery:in:)``.
  public func answer<Answer>(
    _ question: Question<E, Answer>, to query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> Answer { try await answer(to: query, question, context) }

  /// Answers a grouped question, as ``answer(_:to:in:)`` any other one.
  ///
  /// If a caller expects a dictionary of another type, the error of the compiler names both types.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  ///   - context: The stores to read.
  /// - Returns: The answer of each group.
  /// - Throws: As for any other question.
  /// - Complexity: As for any other question.
  public func answer<Key: Hashable & Sendable, Value: Sendable>(
    _ question: Question<E, [Key: Value]>, to query: Query<E>,
    in context: ReadContext<E> = .local
  ) async throws -> [Key: Value] { try await answer(to: query, question, context) }

  /// Answers several questions about the entities that match a query, in one pass.
  ///
  /// - Parameters:
  ///   - questions: The questions.
  ///   - query: The query for the entities.
  ///   - context: The stores to read.
  /// - Returns: The answers, in the order of the questions.
  /// - Throws: As ``answer(_:to:in:)`` for each of them.
  /// - Complexity: As ``answer(_:to:in:)``.
  @_disfavoredOverload
  public func answer<each Answer: Sendable>(
    _ questions: repeat Question<E, each Answer>, to query: Query<E>,
    in context: ReadContext<E> = .local
  ) async throws -> (repeat each Answer) {
    try await answer(Question.combined(repeat each questions), to: query, in: context)
  }

  /// Returns the identifiers of the entities that match a query, in its order.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: The stores to read.
  /// - Returns: The identifiers.
  /// - Throws: As ``search(withQuery:in:)``.
  /// - Complexity: As `ModelSnapshot.identifiers(matching:after:)` if the disk answers; else as
  ///   ``search(withQuery:in:)``.
  public func identifiers(
    matching query: Query<E>, in context: ReadContext<E> = .local
  ) async throws -> [EntityIdentifier<E>] {
    let told = try await fromDisk(query, context) { try $0.identifiers(matching: query) }
    if let told { return told }
    return try await search(withQuery: query, in: context).entities.map(\.id)
  }

  /// Returns the entities of a query that follow a given one: the next page.
  ///
  /// As with `ModelSnapshot.find(_:after:)`, inserts between two pages neither repeat nor skip
  /// an entity. The manager reads the whole result if the entities are not on disk, or if a server has
  /// ordered them and `id` is no key of the order.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - entity: The last entity of the page before.
  ///   - context: The stores to read.
  /// - Returns: The entities of the next page.
  /// - Throws: As ``search(withQuery:in:)``; `QueryError` `lostPlace` if the entity has been deleted
  ///   and its position can't be found without it.
  /// - Complexity: As `ModelSnapshot.find(_:after:)` if the disk answers; else as
  ///   ``search(withQuery:in:)`` without offset and limit.
  public func search(
    withQuery query: Query<E>, after entity: E, in context: ReadContext<E> = .local
  ) async throws -> QueryResult<E> {
    let told = try await fromDisk(query, context) { try $0.find(query, after: entity) }
    if let told { return told }
    try query.validate()
    let whole = try await read(EntityRead(searching: query, after: entity), in: context)
    return try query.window(of: whole.entities, after: entity)
  }

  private func answer<Answer>(
    to query: Query<E>, _ question: Question<E, Answer>, _ context: ReadContext<E>
  ) async throws -> Answer {
    let told = try await fromDisk(query, context) { try $0.answer(question, to: query) }
    if let told { return told }
    return try question.answer(try await search(withQuery: query, in: context).entities)
  }

  /// Answers from a snapshot of the disk; `nil` if only a search gives the right answer.
  private func fromDisk<Answer: Sendable>(
    _ query: Query<E>, _ context: ReadContext<E>,
    _ body: @escaping @Sendable (ModelSnapshot) throws -> Answer
  ) async throws -> Answer? {
    guard case .local = context.source, context.contract == nil, stack.local.count == 1,
      query.identifiers == nil, let store = stack.followedStore
    else { return nil }
    let access = try AccessCheck(context.accessValidator, E.self)
    let answer = try await store.read(body)
    try access.confirm()
    return answer
  }
}
