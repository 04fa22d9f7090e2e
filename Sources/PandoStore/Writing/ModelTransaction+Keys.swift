public import PandoModels

/// Nodes by their typed keys.
extension ModelTransaction {
  /// Changes the stored state of a node and its tree.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.update(Person.key(12)) { $0.name = "Ada" }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - change: Changes the value; its key must stay.
  /// - Returns: The stored model afterwards.
  /// - Throws: As ``update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  @discardableResult
  public mutating func update<M: SimpleModel & Codable>(
    _ key: Key<M>, _ change: (inout M) throws -> Void
  ) throws -> M { try update(M.self, key.rawValue, change) }

  /// Changes the stored state of a node and its tree, if the node exists.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - change: Changes the value; its key must stay.
  /// - Returns: The stored model afterwards; `nil`, without effect, if there is no such node.
  /// - Throws: As ``update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  @discardableResult
  public mutating func updateIfPresent<M: SimpleModel & Codable>(
    _ key: Key<M>, _ change: (inout M) throws -> Void
  ) throws -> M? { try updateIfPresent(M.self, key.rawValue, change) }

  /// Deletes a node with the records of all its types: see ``delete(_:)-(String)``.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The deleted and changed nodes.
  /// - Throws: As the delete by identifier.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that lists it.
  @discardableResult
  public mutating func delete<M>(_ key: Key<M>) throws -> Deletion { try delete(key.rawValue) }

  /// Deletes a node with the records of all its types, if it exists.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The deleted and changed nodes; `nil` if there is no such node.
  /// - Throws: As the delete by identifier of a node that exists.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that lists it.
  @discardableResult
  public mutating func deleteIfPresent<M>(_ key: Key<M>) throws -> Deletion? {
    try deleteIfPresent(key.rawValue)
  }

  /// Removes all elements of a collection that are a node; the node stays.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - cacheKey: The key of the collection.
  /// - Returns: The number of removed elements.
  /// - Throws: As the removal by identifier.
  /// - Complexity: As the removal by identifier.
  @discardableResult
  public mutating func removeElements<M>(
    _ key: Key<M>, fromCollection cacheKey: String
  ) throws -> Int { try removeElements(key.rawValue, fromCollection: cacheKey) }

  /// Moves the first element with a node to another collection, or within the same one.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - source: The key of the collection with the element.
  ///   - target: The key of the new collection; created if absent and `index` is `nil`.
  ///   - index: Its new position; `nil` for the end.
  /// - Returns: `false`, without effect, if `source` does not list the node.
  /// - Throws: As the move by identifier.
  /// - Complexity: As the move by identifier.
  @discardableResult
  public mutating func moveElement<M>(
    _ key: Key<M>, fromCollection source: String, toCollection target: String, at index: Int? = nil
  ) throws -> Bool {
    try moveElement(key.rawValue, fromCollection: source, toCollection: target, at: index)
  }

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

extension ModelStore {
  /// Changes the stored state of a node and its tree, without overwriting concurrent changes.
  ///
  /// ```swift
  /// try store.update(Counter.key("visits")) { $0.value += 1 }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Runs as the closure of `write(context:_:)`, perhaps more than once.
  /// - Returns: The stored model afterwards.
  /// - Throws: The error of `change`, and the errors of ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func update<M: SimpleModel & Codable>(
    _ key: Key<M>, context: (any Sendable)? = nil, _ change: @Sendable (inout M) throws -> Void
  ) throws -> M { try write(context: context) { try $0.update(key, change) } }

  /// Changes a node like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Same as in the synchronous form.
  /// - Returns: The stored model afterwards.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func update<M: SimpleModel & Codable>(
    _ key: Key<M>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M { try await write(context: context) { try $0.update(key, change) } }
}
