extension ModelSnapshot {
  /// Answers a question about the entities that a query gives, without decoding them.
  ///
  /// A count is the number of rows of an index that decides the filter, or of the intersection of two
  /// indexes. The lowest and the highest value of an indexed field are at the ends of its index. In all
  /// other cases the store reads the bodies. ``explain(_:to:)`` returns the way of an answer.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.status == .open)
  /// let newest = try store.read { try $0.answer(.max(\.created), to: open).value }
  /// ```
  /// - Parameters:
  ///   - question: What is asked.
  ///   - query: About which entities.
  /// - Returns: The answer.
  /// - Throws: `QueryError` as `validate()`, and `wrongType` for the sum of a field without
  ///   numbers, `overflow` for a sum that `Decimal` can't represent; `StoreError` when the bytes on disk are damaged; `ModelError` where an entity has to be
  ///   decoded and can't be: for key paths that are not declared.
  /// - Complexity: O(1) to count all records, O(log *n* + *p*) to count rows of an index on *p* pages,
  ///   O(log *n*) for the lowest or highest value of an indexed field. Else as ``find(_:)``, as a
  ///   rule without decoding.
  public func answer<E: Queryable>(
    _ question: Question<E>, to query: Query<E>
  ) throws -> QueryAnswer {
    let query = try resolved(query)
    guard try isToldByRows(query, isInOrder: query.hasWindow) else {
      try question.validate()
      return try question.answer(try find(query).entities)
    }
    let (stored, asked) = try proven(query) { try $0.question(question) }
    return try answer(asked, to: stored.query, as: E.self) { stored.value($0, of: $1) }
  }
}
