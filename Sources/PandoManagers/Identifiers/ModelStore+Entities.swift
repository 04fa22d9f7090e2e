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

  /// Returns the entities that a query asks for: another name of ``find(_:)``.
  ///
  /// - Parameter query: The query.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``find(_:)``.
  /// - Complexity: As ``find(_:)``.
  public func entities<E: Queryable>(matching query: Query<E>) throws -> QueryResult<E> {
    try find(query)
  }

  /// Returns the next page of the entities of a query: another name of ``find(_:after:)``.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - entity: The last entity of the previous page; `nil` for the first page.
  /// - Returns: The entities and their groups.
  /// - Throws: As ``find(_:after:)``.
  /// - Complexity: As ``find(_:after:)``.
  public func entities<E: Queryable>(
    matching query: Query<E>, after entity: E?
  ) throws -> QueryResult<E> { try find(query, after: entity) }

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

extension ModelTransaction {
  /// Changes a stored entity; only differing nodes are written.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - change: Changes the value, but not its identifier.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: The error of `change`, and as ``update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree.
  @discardableResult
  public mutating func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, _ change: (inout E) throws -> Void
  ) throws -> E? {
    let current = try snapshot.currentIdentifier(of: identifier).modelIdentifier
    return try update(E.self, current, change)
  }

  /// Deletes the node of an entity, with its records of all types.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: The deleted and changed nodes; `nil` if there is no such entity.
  /// - Throws: As ``delete(_:)``.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it.
  @discardableResult
  public mutating func delete<E: Entity>(_ identifier: EntityIdentifier<E>) throws -> Deletion? {
    try delete(snapshot.currentIdentifier(of: identifier).modelIdentifier)
  }
}

extension ModelStore {
  /// Changes a stored entity; changes that others make meanwhile are kept.
  ///
  /// ```swift
  /// try store.updateIfPresent(id) { $0.title = "Crash at start" }
  /// ```
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: Runs on the calling thread or another one, perhaps more than once.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: The error of `change`, and as ``ModelTransaction/update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of its tree, and a commit.
  @discardableResult
  public func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @Sendable (inout E) throws -> Void
  ) throws -> E? { try write(context: context) { try $0.updateIfPresent(identifier, change) } }

  /// Changes an entity like the synchronous form, without blocking a thread.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: A value that travels with the change set to listeners.
  ///   - change: As in the synchronous form.
  /// - Returns: The entity as stored afterwards; `nil` if there is none.
  /// - Throws: As the synchronous form.
  /// - Complexity: As the synchronous form.
  @discardableResult
  public func update<E: Entity>(
    _ identifier: EntityIdentifier<E>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> E? { try await write(context: context) { try $0.updateIfPresent(identifier, change) } }
}
