extension ModelSnapshot {
  /// Answers a question about the entities that a query gives, without decoding them.
  ///
  /// A count is the number of rows of an index that decides the filter, or of the intersection of two
  /// indexes. The lowest and the highest value of an indexed field are at the ends of its index. In all
  /// other cases the store reads the bodies. ``explain(_:to:)`` returns the way of an answer.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.status == .open)
  /// let newest = try store.read { try $0.answer(.max(\.created), to: open) }  // Date?
  /// let perAuthor = try store.read { try $0.answer(.count.grouped(by: \.author), to: open) }
  /// ```
  /// - Parameters:
  ///   - question: The question.
  ///   - query: The query for its entities.
  /// - Returns: The answer, in the type of the question.
  /// - Throws: `QueryError` as `validate()`, `overflow` for a sum that does not fit its type, and
  ///   `wrongType` for a stored value that the type of its field does not have; `StoreError` when the
  ///   bytes on disk are damaged; `ModelError` for a key path that is not declared, if an entity
  ///   can't be decoded.
  /// - Complexity: O(1) to count all records, O(log *n* + *p*) to count rows of an index on *p* pages,
  ///   O(log *n*) for the lowest or highest value of an indexed field. Else as ``find(_:)``, usually
  ///   without decoding.
  public func answer<E: Queryable, Answer>(
    _ question: Question<E, Answer>, to query: Query<E>
  ) throws -> Answer { try answer(to: query, question) }

  /// Answers a grouped question, as ``answer(_:to:)`` any other one.
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
  ) throws -> [Key: Value] { try answer(to: query, question) }

  private func answer<E: Queryable, Answer>(
    to query: Query<E>, _ question: Question<E, Answer>
  ) throws -> Answer {
    let query = try resolved(query)
    guard try isDeterminedByRecords(query, isInOrder: query.hasWindow) else {
      return try question.answer(try find(query).entities)
    }
    let (stored, asked) = try proven(query) { $0.question(question.measure) }
    return try question.answer(
      try answer(asked, to: stored.query, as: E.self) { stored.value($0, of: $1) })
  }

  /// Answers several questions about the entities that a query gives, in one pass.
  ///
  /// - Parameters:
  ///   - questions: The questions.
  ///   - query: The query for the entities.
  /// - Returns: The answers, in the order of the questions.
  /// - Throws: As ``answer(_:to:)`` for each of them.
  /// - Complexity: As ``find(_:)``, usually without decoding; a single question may cost less.
  @_disfavoredOverload
  public func answer<E: Queryable, each Answer: Sendable>(
    _ questions: repeat Question<E, each Answer>, to query: Query<E>
  ) throws -> (repeat each Answer) {
    try answer(Question.combined(repeat each questions), to: query)
  }
}
