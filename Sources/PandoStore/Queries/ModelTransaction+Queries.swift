extension ModelTransaction {
  /// Deletes all models that a query finds.
  ///
  /// ```swift
  /// let count = try store.write { transaction in
  ///   try transaction.deleteAll(matching: Query(filter: \AuditEntry.at < limit), limit: 1_000)
  /// }
  /// ```
  ///
  /// A model that the query finds is also gone if a parent that required another one was deleted.
  /// Records that can't be decoded are deleted if their fields match.
  ///
  /// - Parameters:
  ///   - query: The query; its order and limit say which models are deleted.
  ///   - limit: The most models to delete, so that one write of many is divided into several.
  /// - Returns: How many models were deleted; less than `limit` if no more are left.
  /// - Throws: `QueryError` for an invalid query; ``StoreError`` `restricted` if the deletion rules
  ///   allow no order; `damaged`; `LMDBError` if the disk fails.
  /// - Complexity: That of the query, and of each delete.
  @discardableResult
  public mutating func deleteAll<M: Queryable>(
    matching query: Query<M>, limit: Int = .max
  ) throws -> Int {
    var query = query
    query.limit = Swift.min(query.limit ?? .max, limit)
    let found = try snapshot.modelIdentifiers(matching: query)
    return try delete(found).count
  }
}
