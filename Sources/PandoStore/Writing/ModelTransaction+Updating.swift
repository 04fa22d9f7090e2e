public import PandoModels

/// Writing what differs, so that nothing is lost that others have changed meanwhile.
extension ModelTransaction {
  /// Changes a node, and what it contains, as it is stored now.
  ///
  /// Only what differs afterwards is written, in the node and in its children. A stored node that the closure
  /// attaches comes in as it is stored, whatever the closure has of it: to change it too, update it as well.
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.update(Issue.self, "issue:7") { $0.title = "Crash at start" }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: The identifier of the node.
  ///   - change: Changes the value; its identifier stays.
  /// - Returns: The model as it is stored afterwards; `nil` if there is no such node, and nothing is done.
  /// - Throws: What `change` throws, and what `set(_:)` and ``ModelSnapshot/model(_:as:)`` throw.
  /// - Complexity: O(log *n*) for each node of the tree.
  @discardableResult
  public mutating func update<M: SimpleModel & Codable>(
    _ type: M.Type = M.self, _ identifier: String, _ change: (inout M) throws -> Void
  ) throws -> M? {
    guard let old = try snapshot.model(identifier, as: type) else { return nil }
    var new = old
    try change(&new)
    guard new.modelIdentifier == identifier else {
      throw StoreError(
        .invalidModel, identifier,
        "the update gave it the identifier \(new.modelIdentifier ?? "nil"); an identifier stays")
    }
    let outcome = try write(new, replacing: [old])
    if outcome.isAsGiven { return new }
    return try snapshot.model(identifier, as: type)
  }

  /// Stores what a caller has changed in a tree, and not what the tree merely carries along.
  ///
  /// `old` says what the caller had read. Of each node in both, the fields that differ are written; lists of
  /// children take in the caller's insertions, removals and moves. All else stays as it is stored, whoever
  /// has changed it meanwhile. Where somebody else has changed the same field, the caller's value counts. A
  /// stored node that is only in `new` comes in as it is stored; a deleted one that was merely carried along
  /// stays away.
  /// ```swift
  /// var issue = shown
  /// issue.title = "Crash at start"
  /// try store.write { try $0.set(issue, replacing: shown) }
  /// ```
  ///
  /// - Parameters:
  ///   - new: The tree that the caller wants.
  ///   - old: The tree that the caller has read, with the same identifier.
  /// - Throws: As `set(_:)`; ``StoreError`` `noSuchNode` if the node has been deleted meanwhile.
  /// - Complexity: O(log *n*) for each node of both trees.
  public mutating func set<M: SimpleModel & Encodable>(_ new: M, replacing old: M) throws {
    guard new.modelIdentifier == old.modelIdentifier else {
      throw StoreError(
        .invalidModel, new.modelIdentifier ?? "",
        "it can't replace \(old.modelIdentifier ?? "nil"); both versions have one identifier")
    }
    _ = try write(new, replacing: [old])
  }

  /// Stores a node without what it contains: its own fields, and which children it has.
  ///
  /// Children that are stored stay as they are; those that are not are stored as they are given.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: As `set(_:)`.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func setRoot<M: SimpleModel & Encodable>(_ model: M) throws {
    _ = try write(model, replacing: [])
  }

  /// Makes sure that nobody has changed a node since it was read.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - number: What ``ModelSnapshot/lastCommit(of:)`` said; `nil` if the node was not there.
  /// - Throws: ``StoreError`` `changedMeanwhile`, which names the newer commit.
  /// - Complexity: O(log *n*).
  public mutating func expect(_ identifier: String, lastCommit number: CommitNumber?) throws {
    let newest = try session.reading { reader in
      try reader.lastCommit(of: identifier).map { try reader.number($0) }
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
