public import PandoModels

/// Writes only the differences, so that concurrent changes are kept.
extension ModelTransaction {
  /// Stores a model that the store does not have yet.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: ``StoreError`` `alreadyExists`, without effect; else as `set(_:)`.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func insert<M: SimpleModel & Encodable>(_ model: M) throws {
    if let identifier = model.modelIdentifier, try snapshot.contains(identifier) {
      throw StoreError(
        .alreadyExists, identifier, "it can't be inserted again; set or update it instead")
    }
    try set(model)
  }

  /// Changes the stored state of a node and its tree.
  ///
  /// Only the differences are written, in the node and in its children. If the closure attaches a
  /// stored node, that node keeps its stored content; to change it, update it as well.
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.update(Issue.self, "issue:7") { $0.title = "Crash at start" }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - change: Changes the value; its identifier must stay.
  /// - Returns: The stored model afterwards.
  /// - Throws: ``StoreError`` `noSuchNode`; the error of `change`, of `set(_:)` or of
  ///   ``ModelSnapshot/get(_:as:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  @discardableResult
  public mutating func update<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, _ change: (inout M) throws -> Void
  ) throws -> M {
    if let model = try updateIfPresent(type, identifier, change) { return model }
    throw StoreError.noSuchNode(identifier)
  }

  /// Changes the stored state of a node and its tree, if the node exists.
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - change: Changes the value; its identifier must stay.
  /// - Returns: The stored model afterwards; `nil`, without effect, if there is no such node.
  /// - Throws: As ``update(_:_:_:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  @discardableResult
  public mutating func updateIfPresent<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, _ change: (inout M) throws -> Void
  ) throws -> M? {
    guard let old = try snapshot.get(identifier, as: type) else { return nil }
    var new = old
    try change(&new)
    guard new.modelIdentifier == identifier else {
      throw StoreError(
        .invalidModel, identifier,
        "the update gave it the identifier \(new.modelIdentifier ?? "nil"); an identifier stays")
    }
    let outcome = try write(new, replacing: [old])
    if outcome.isAsGiven { return new }
    return try snapshot.get(identifier, as: type)
  }

  /// Stores the caller's changes of a tree, without the unchanged parts.
  ///
  /// `old` is the tree that the caller has read. For each node in both trees, the different fields
  /// are written; lists of children get the caller's insertions, removals and moves. All else keeps
  /// its stored value, including concurrent changes. If both changed the same field, the caller's
  /// value counts. A stored node that is only in `new` keeps its stored content. An unchanged node
  /// that was deleted meanwhile stays deleted.
  /// ```swift
  /// var issue = shown
  /// issue.title = "Crash at start"
  /// try store.write { try $0.set(issue, replacing: shown) }
  /// ```
  ///
  /// - Parameters:
  ///   - new: The tree with the caller's changes.
  ///   - old: The tree as the caller read it, with the same identifier.
  /// - Throws: As `set(_:)`; ``StoreError`` `noSuchNode` if the node was deleted meanwhile.
  /// - Complexity: O(log *n*) for each node of both trees.
  public mutating func set<M: SimpleModel & Encodable>(_ new: M, replacing old: M) throws {
    guard new.modelIdentifier == old.modelIdentifier else {
      throw StoreError(
        .invalidModel, new.modelIdentifier ?? "",
        "it can't replace \(old.modelIdentifier ?? "nil"); both versions have one identifier")
    }
    _ = try write(new, replacing: [old])
  }

  /// Stores a node without its descendants: its own fields, and which children it has.
  ///
  /// Stored children stay unchanged; missing ones are stored as given.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: As `set(_:)`.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func setRoot<M: SimpleModel & Encodable>(_ model: M) throws {
    _ = try write(model, replacing: [])
  }

  /// Makes sure that a node was not changed since it was read.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - number: The result of ``ModelSnapshot/lastCommit(of:)``; `nil` if the node did not exist.
  /// - Throws: ``StoreError`` `changedMeanwhile` with the newer commit.
  /// - Complexity: O(log *n*).
  public mutating func expect(_ identifier: String, lastCommit number: CommitNumber?) throws {
    let newest = try session.reading { reader in
      try reader.commitValue(of: identifier).map { try reader.number($0) }
    }
    if newest == number || newest?.value == number?.value && number?.history == 0 { return }
    let expected =
      number.map { "commit \($0.value) was expected to be its last" } ?? "it was not expected"
    let found =
      newest.map {
        $0.value == number?.value
          ? "that is of another history of the store" : "commit \($0.value) has changed it"
      } ?? "it has been deleted"
    throw StoreError(.changedMeanwhile, identifier, "\(expected), but \(found)")
  }

  private mutating func write<M: SimpleModel & Encodable>(
    _ new: M, replacing old: [M]
  ) throws -> UpdateOutcome {
    let outcome = try session.whole { try session.set(new, replacing: old) }
    session.state.content?.mix(named: outcome.written + [new.modelIdentifier ?? ""])
    return outcome
  }
}

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
}
