public import PandoModels

/// Reads of one model, query or answer.
///
/// Use ``ModelStore/read(_:)`` if several reads must see one version.
extension ModelStore {
  /// Reads a model with its whole tree.
  ///
  /// ```swift
  /// let ada = try store.get(Person.key(12))
  /// ```
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The model; `nil` if no node has the key.
  /// - Throws: As ``ModelSnapshot/get(_:as:)`` and ``read(_:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func get<M: SimpleModel & Decodable>(_ key: Key<M>) throws -> M? {
    try read { try $0[key] }
  }

  /// Reads a model with its whole tree on a reader thread.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The model; `nil` if no node has the key.
  /// - Throws: As ``ModelSnapshot/get(_:as:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func get<M: SimpleModel & Decodable>(_ key: Key<M>) async throws -> M? {
    try await read { try $0[key] }
  }

  /// Returns the entities that a query asks for.
  ///
  /// ```swift
  /// let issues = try store.find(Query(filter: \Issue.status == .open)).entities
  /// ```
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``ModelSnapshot/find(_:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/find(_:)``.
  public func find<E: Queryable>(_ query: Query<E>) throws -> QueryResult<E> {
    try read { try $0.find(query) }
  }

  /// Returns the entities that a query asks for; reads on a reader thread.
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``ModelSnapshot/find(_:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/find(_:)``.
  public func find<E: Queryable>(_ query: Query<E>) async throws -> QueryResult<E> {
    try await read { try $0.find(query) }
  }

  /// Returns a page of the result of a query: the first one, or the one at a cursor.
  ///
  /// - Parameters:
  ///   - query: The query; its limit is the size of a page.
  ///   - cursor: ``QueryPage/next`` or ``QueryPage/previous`` of a page of the same order; `nil` for the first page.
  /// - Returns: The page.
  /// - Throws: As ``ModelSnapshot/page(of:at:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/page(of:at:)``.
  public func page<E: Queryable>(
    of query: Query<E>, at cursor: QueryCursor<E>? = nil
  ) throws -> QueryPage<E> {
    try read { try $0.page(of: query, at: cursor) }
  }

  /// Returns a page of the result of a query: the first one, or the one at a cursor; reads on a reader thread.
  ///
  /// - Parameters:
  ///   - query: The query; its limit is the size of a page.
  ///   - cursor: ``QueryPage/next`` or ``QueryPage/previous`` of a page of the same order; `nil` for the first page.
  /// - Returns: The page.
  /// - Throws: As ``ModelSnapshot/page(of:at:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/page(of:at:)``.
  public func page<E: Queryable>(
    of query: Query<E>, at cursor: QueryCursor<E>? = nil
  ) async throws -> QueryPage<E> {
    try await read { try $0.page(of: query, at: cursor) }
  }

  /// Returns the first entity that a query asks for.
  ///
  /// - Parameter query: The query; its groups do not matter.
  /// - Returns: The first entity; `nil` if there is none.
  /// - Throws: As ``ModelSnapshot/find(_:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/first(_:)``.
  public func first<E: Queryable>(_ query: Query<E>) throws -> E? {
    try read { try $0.first(query) }
  }

  /// Returns the first entity that a query asks for; reads on a reader thread.
  ///
  /// - Parameter query: The query; its groups do not matter.
  /// - Returns: The first entity; `nil` if there is none.
  /// - Throws: As ``ModelSnapshot/find(_:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/first(_:)``.
  public func first<E: Queryable>(_ query: Query<E>) async throws -> E? {
    try await read { try $0.first(query) }
  }

  /// Answers a question about the entities that a query gives, mostly without decoding them.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The answer, in the type of the question.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/answer(_:to:)``.
  public func answer<E: Queryable, Answer>(
    _ question: Question<E, Answer>, to query: Query<E>
  ) throws -> Answer {
    try read { try $0.answer(question, to: query) }
  }

  /// Answers a question about the entities that a query gives; reads on a reader thread.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The answer, in the type of the question.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/answer(_:to:)``.
  public func answer<E: Queryable, Answer>(
    _ question: Question<E, Answer>, to query: Query<E>
  ) async throws -> Answer {
    try await read { try $0.answer(question, to: query) }
  }

  /// Answers a grouped question.
  ///
  /// If a caller expects a dictionary of another type, the error of the compiler names both types.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The answer of each group.
  /// - Throws: As for any other question.
  /// - Complexity: As for any other question.
  public func answer<E: Queryable, Key: Hashable & Sendable, Value: Sendable>(
    _ question: Question<E, [Key: Value]>, to query: Query<E>
  ) throws -> [Key: Value] {
    try read { try $0.answer(question, to: query) }
  }

  /// Answers a grouped question; reads on a reader thread.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The answer of each group.
  /// - Throws: As for any other question.
  /// - Complexity: As for any other question.
  public func answer<E: Queryable, Key: Hashable & Sendable, Value: Sendable>(
    _ question: Question<E, [Key: Value]>, to query: Query<E>
  ) async throws -> [Key: Value] {
    try await read { try $0.answer(question, to: query) }
  }

  /// Answers several questions about the entities that a query gives, in one pass.
  ///
  /// - Parameters:
  ///   - questions: The questions.
  ///   - query: The query for the entities.
  /// - Returns: The answers, in the order of the questions.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)`` and ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/answer(_:to:)``.
  @_disfavoredOverload
  public func answer<E: Queryable, each Answer: Sendable>(
    _ questions: repeat Question<E, each Answer>, to query: Query<E>
  ) throws -> (repeat each Answer) {
    try answer(Question.combined(repeat each questions), to: query)
  }

  /// Answers several questions about the entities that a query gives, in one pass; reads on a reader thread.
  ///
  /// - Parameters:
  ///   - questions: The questions.
  ///   - query: The query for the entities.
  /// - Returns: The answers, in the order of the questions.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)`` and the `async` form of ``read(_:)``.
  /// - Complexity: As ``ModelSnapshot/answer(_:to:)``.
  @_disfavoredOverload
  public func answer<E: Queryable, each Answer: Sendable>(
    _ questions: repeat Question<E, each Answer>, to query: Query<E>
  ) async throws -> (repeat each Answer) {
    try await answer(Question.combined(repeat each questions), to: query)
  }
}
