public import PandoModels

extension ModelStore {
  /// Changes the stored state of a node and its tree, without overwriting concurrent changes.
  ///
  /// ```swift
  /// try store.update(Counter.self, "visits") { $0.value += 1 }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Runs as the closure of `write(context:_:)`, perhaps more than once.
  /// - Returns: The stored model afterwards.
  /// - Throws: The error of `change`, and the errors of ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func update<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @Sendable (inout M) throws -> Void
  ) throws -> M {
    try write(context: context) { try $0.update(type, identifier, change) }
  }

  /// Changes a node like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Same as in the synchronous form.
  /// - Returns: The stored model afterwards.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func update<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M {
    try await write(context: context) { try $0.update(type, identifier, change) }
  }

  /// Changes the stored state of a node and its tree, if the node exists.
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Runs as the closure of `write(context:_:)`, perhaps more than once.
  /// - Returns: The stored model afterwards; `nil` if there is no such node.
  /// - Throws: The error of `change`, and the errors of ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func updateIfPresent<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @Sendable (inout M) throws -> Void
  ) throws -> M? {
    try write(context: context) { try $0.updateIfPresent(type, identifier, change) }
  }

  /// Changes a node that may be absent like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Same as in the synchronous form.
  /// - Returns: The stored model afterwards; `nil` if there is no such node.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func updateIfPresent<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M? {
    try await write(context: context) { try $0.updateIfPresent(type, identifier, change) }
  }

  /// Changes the store unless another write has changed certain nodes since they were read (optimistic locking).
  ///
  /// ```swift
  /// let (issue, commit) = try store.read {
  ///   (try $0.get("issue:7", as: Issue.self), try $0.lastCommit(of: "issue:7"))
  /// }
  /// …
  /// try store.write(expecting: ["issue:7": commit]) { try $0.set(edited) }
  /// ```
  ///
  /// - Parameters:
  ///   - commits: The ``ModelSnapshot/lastCommit(of:)`` of each node; `nil` for a node that must not exist.
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Same as in `write(context:_:)`.
  /// - Returns: The result of `body`.
  /// - Throws: ``StoreError`` `changedMeanwhile`, with node and newer commit; then `body` has not run. Otherwise as
  ///   `write(context:_:)`.
  /// - Complexity: O(log *n*) for each expected node, beside `body` and the commit.
  @discardableResult
  public func write<Result: Sendable>(
    expecting commits: [String: CommitNumber?], context: (any Sendable)? = nil,
    _ body: @Sendable (inout ModelTransaction) throws -> Result
  ) throws -> Result {
    try write(context: context) { transaction in
      try transaction.expect(commits)
      return try body(&transaction)
    }
  }

  /// Changes the store like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - commits: Same as in the synchronous form.
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Same as in the synchronous form.
  /// - Returns: The result of `body`.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: O(log *n*) for each expected node, beside `body` and the commit.
  @discardableResult
  public func write<Result: Sendable>(
    expecting commits: [String: CommitNumber?], context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    try await write(context: context) { transaction in
      try transaction.expect(commits)
      return try body(&transaction)
    }
  }
}

extension ModelStore {
  /// Changes the store if no node of some keys has changed since a commit.
  ///
  /// ```swift
  /// try store.write(expecting: [issue.key: commit]) { try $0.set(edited) }
  /// ```
  ///
  /// - Parameters:
  ///   - commits: The last commit of each node; `nil` for a missing one.
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Same as in `write(context:_:)`.
  /// - Returns: The result of `body`.
  /// - Throws: As the form with identifiers.
  /// - Complexity: As the form with identifiers.
  @discardableResult
  public func write<M, Result: Sendable>(
    expecting commits: [Key<M>: CommitNumber?], context: (any Sendable)? = nil,
    _ body: @Sendable (inout ModelTransaction) throws -> Result
  ) throws -> Result { try write(expecting: commits.byIdentifier(), context: context, body) }

  /// Changes the store like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - commits: The last commit of each node; `nil` for a missing one.
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Same as in `write(context:_:)`.
  /// - Returns: The result of `body`.
  /// - Throws: As the form with identifiers.
  /// - Complexity: As the form with identifiers.
  @discardableResult
  public func write<M, Result: Sendable>(
    expecting commits: [Key<M>: CommitNumber?], context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    try await write(expecting: commits.byIdentifier(), context: context, body)
  }
}

extension Dictionary {
  fileprivate func byIdentifier<M>() -> [String: Value] where Key == PandoModels.Key<M> {
    Dictionary<String, Value>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
  }
}

extension ModelTransaction {
  fileprivate mutating func expect(_ commits: [String: CommitNumber?]) throws {
    for (identifier, number) in commits { try expect(identifier, lastCommit: number) }
  }
}

/// Nodes by their typed keys.
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

  /// Changes the stored state of a node and its tree, if the node exists.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Runs as the closure of `write(context:_:)`, perhaps more than once.
  /// - Returns: The stored model afterwards; `nil` if there is no such node.
  /// - Throws: The error of `change`, and the errors of ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func updateIfPresent<M: SimpleModel & Codable>(
    _ key: Key<M>, context: (any Sendable)? = nil, _ change: @Sendable (inout M) throws -> Void
  ) throws -> M? { try write(context: context) { try $0.updateIfPresent(key, change) } }

  /// Changes a node that may be absent like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - context: Passed on with the change set to its receivers.
  ///   - change: Same as in the synchronous form.
  /// - Returns: The stored model afterwards; `nil` if there is no such node.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As ``ModelTransaction/update(_:_:_:)``, and a commit.
  @discardableResult
  public func updateIfPresent<M: SimpleModel & Codable>(
    _ key: Key<M>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M? { try await write(context: context) { try $0.updateIfPresent(key, change) } }
}
