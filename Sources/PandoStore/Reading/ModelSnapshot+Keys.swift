public import PandoModels

/// Nodes by their typed keys.
extension ModelSnapshot {
  /// The model of a key with its whole tree; `nil` if no node has the key.
  ///
  /// ```swift
  /// let ada = try store.read { try $0[Person.key(12)] }
  /// ```
  ///
  /// - Parameter key: The key of the node.
  /// - Throws: As ``get(_:as:)``.
  /// - Complexity: O(log *n*) for each node of the tree.
  public subscript<M: SimpleModel & Decodable>(key: Key<M>) -> M? {
    get throws { try get(key.rawValue, as: M.self) }
  }

  /// Returns the models of keys with their trees, without those that no node has.
  ///
  /// - Parameter keys: The keys of the nodes.
  /// - Returns: The models, in the order of the keys.
  /// - Throws: As ``get(_:as:)``.
  /// - Complexity: O(log *n*) for each node of the trees.
  public subscript<M: SimpleModel & Decodable>(keys: some Sequence<Key<M>>) -> [M] {
    get throws { try keys.compactMap { try self[$0] } }
  }

  /// Returns whether a node exists.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: Whether any record of the node exists.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func contains<M>(_ key: Key<M>) throws -> Bool { try contains(key.rawValue) }

  /// Returns the type names of a node's records.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The names, sorted; empty if there is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As ``typeNames(of:)-(String)``.
  public func typeNames<M>(of key: Key<M>) throws -> [String] { try typeNames(of: key.rawValue) }

  /// Returns the nodes that contain a node directly.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The identifiers of the parents, as ``parents(of:)-(String)`` returns them.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As the untyped form.
  public func parents<M>(of key: Key<M>) throws -> [String] { try parents(of: key.rawValue) }

  /// Returns the parents of a node that have a record of one type.
  ///
  /// - Parameters:
  ///   - key: The key of the node.
  ///   - type: The type of the parents.
  /// - Returns: The keys of the parents.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As the untyped form, and O(log *n*) for each parent.
  public func parents<M, P: SimpleModel>(
    of key: Key<M>, as type: P.Type
  ) throws -> [Key<P>] {
    try parents(of: key.rawValue)
      .filter { try typeNames(of: $0).contains(P.modelTypeName) }
      .map { Key(rawValue: $0) }
  }

  /// Returns the nodes directly inside a node.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The identifiers of the children, as ``children(of:)-(String)`` returns them.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As the untyped form.
  public func children<M>(of key: Key<M>) throws -> [String] { try children(of: key.rawValue) }

  /// Returns the commit that changed a node last.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The number; `nil` if there is no such node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  public func lastCommit<M>(of key: Key<M>) throws -> CommitNumber? {
    try lastCommit(of: key.rawValue)
  }

  /// Returns the cache keys of the collections that list a node.
  ///
  /// - Parameter key: The key of the node.
  /// - Returns: The cache keys, as ``collections(holding:)-(String)`` returns them.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As the untyped form.
  public func collections<M>(holding key: Key<M>) throws -> [String] {
    try collections(holding: key.rawValue)
  }
}
