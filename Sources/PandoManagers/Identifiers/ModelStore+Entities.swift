public import PandoStore

// MARK: - Entities by their typed identifiers
extension ModelSnapshot {
  /// Reads an entity.
  ///
  /// ```swift
  /// let issue = try store.read { try $0.entity(id) }
  /// ```
  /// - Parameter identifier: Its identifier; a local one that a server has replaced is valid too.
  /// - Returns: The entity; `nil` if there is none.
  /// - Throws: `ModelError` if it can't be decoded; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*) for each node of the tree.
  public func entity<E: Entity>(_ identifier: EntityIdentifier<E>) throws -> E? {
    var childCount = 0
    return try entity(
      currentIdentifier(of: identifier).modelIdentifier, as: E.self, &childCount)
  }

  /// Returns the identifiers of the entities that a query gives, in its order, without decoding them.
  ///
  /// - Parameters:
  ///   - query: The query; its groups do not matter.
  ///   - entity: The last one that was shown, as in ``find(_:after:)``.
  /// - Returns: The identifiers.
  /// - Throws: As ``find(_:after:)``.
  /// - Complexity: As ``modelIdentifiers(matching:after:)``.
  public func identifiers<E: Entity>(
    matching query: Query<E>, after entity: E? = nil
  ) throws -> [EntityIdentifier<E>] {
    try modelIdentifiers(matching: query, after: entity)
      .compactMap { EntityIdentifier(modelIdentifier: $0) }
  }
}

extension ModelSnapshot {
  /// Whether a node is an entity of a type, if it exists.
  ///
  /// A node that is stored only as another type of its namespace may lack what the type requires.
  ///
  /// - Throws: `ModelError` if its record of the type can't be decoded; `StoreError`.
  func mayBe<E: Entity>(_ type: E.Type, _ identifier: String) throws -> Bool {
    if NamespaceTypes.others(of: type).isEmpty { return true }
    var childCount = 0
    return try entity(identifier, as: type, &childCount) != nil
  }
}

extension ModelTransaction {
  /// Changes a stored entity; only differing nodes are written.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - change: Changes the value, but not its identifier.
  /// - Returns: The entity as stored afterwards.
  /// - Throws: The error of `change`, and as ``update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree.
  @discardableResult
  public mutating func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, _ change: (inout E) throws -> Void
  ) throws -> E {
    if let entity = try updateIfPresent(identifier, change) { return entity }
    throw StoreError.noSuchNode(identifier.modelIdentifier)
  }

  /// Changes a stored entity, if it exists.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - change: Changes the value, but not its identifier.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: The error of `change`, and as ``updateIfPresent(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree.
  @discardableResult
  public mutating func updateIfPresent<E: Entity>(
    _ identifier: EntityIdentifier<E>, _ change: (inout E) throws -> Void
  ) throws -> E? {
    let current = try currentName(of: identifier)
    guard try snapshot.mayBe(E.self, current) else { return nil }
    return try updateIfPresent(E.self, current, change)
  }

  /// Deletes the node of an entity, with its records of all types.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The deleted and changed nodes.
  /// - Throws: As the delete by identifier of a node.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it.
  @discardableResult
  public mutating func delete<E: Entity>(_ identifier: EntityIdentifier<E>) throws -> Deletion {
    try delete(currentName(of: identifier))
  }

  /// Deletes the node of an entity, with its records of all types, if it exists.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The deleted and changed nodes; `nil` if there is no such entity.
  /// - Throws: As the delete by identifier of a node that exists.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it.
  @discardableResult
  public mutating func deleteIfPresent<E: Entity>(
    _ identifier: EntityIdentifier<E>
  ) throws -> Deletion? { try deleteIfPresent(currentName(of: identifier)) }

  private func currentName<E: Entity>(of identifier: EntityIdentifier<E>) throws -> String {
    try snapshot.currentIdentifier(of: identifier).modelIdentifier
  }
}

extension ModelStore {
  /// Changes a stored entity; changes that others make meanwhile are kept.
  ///
  /// ```swift
  /// try store.update(id) { $0.title = "Crash at start" }
  /// ```
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: Runs on the calling thread or another one, perhaps more than once.
  /// - Returns: The entity as stored afterwards.
  /// - Throws: The error of `change`, and as ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree, and a commit.
  @discardableResult
  public func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @Sendable (inout E) throws -> Void
  ) throws -> E { try write(context: context) { try $0.update(identifier, change) } }

  /// Changes an entity like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: As in the synchronous form.
  /// - Returns: The entity as stored afterwards.
  /// - Throws: As the synchronous form.
  /// - Complexity: As the synchronous form.
  @discardableResult
  public func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> E { try await write(context: context) { try $0.update(identifier, change) } }

  /// Changes a stored entity, if it exists.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: Runs on the calling thread or another one, perhaps more than once.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: The error of `change`, and as ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree, and a commit.
  @discardableResult
  public func updateIfPresent<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @Sendable (inout E) throws -> Void
  ) throws -> E? { try write(context: context) { try $0.updateIfPresent(identifier, change) } }

  /// Changes an entity that may be absent like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: As in the synchronous form.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: As the synchronous form.
  /// - Complexity: As the synchronous form.
  @discardableResult
  public func updateIfPresent<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> E? {
    try await write(context: context) { try $0.updateIfPresent(identifier, change) }
  }
}
