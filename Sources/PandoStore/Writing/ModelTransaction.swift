import PandoLMDB
public import PandoModels

/// One write of a store: everything done through it is committed, or nothing.
///
/// It lives in the closure given to ``ModelStore/write(context:_:)-5sv3u``; the compiler refuses to
/// keep it. Writer thread only.
public struct ModelTransaction: ~Copyable {
  let work: WriteContext

  init(_ work: WriteContext) { self.work = work }

  /// The store as this transaction has made it so far.
  ///
  /// What is read through it must be let go before the next change.
  public var snapshot: ModelSnapshot {
    @_lifetime(borrow self)
    get {
      // The LMDB transaction lives as long as this value, which the borrow keeps from changing.
      let snapshot = ModelSnapshot(work.reader, path: work.core.path)
      return unsafe _overrideLifetime(snapshot, borrowing: self)
    }
  }

  /// The commit number that readers see once this transaction is committed, as far as it has gone.
  ///
  /// - Complexity: O(*n*) for *n* nodes changed so far.
  package var commitNumber: UInt64 {
    let isCommit = work.state.takesCommitNumber || work.state.changes.summary != nil
    return isCommit ? work.nextCommitNumber : work.state.counters.commitNumber
  }

  /// Stores a model with all it contains.
  ///
  /// Each node of the tree becomes a record; a node whose content is already stored is not written.
  /// Records of the same nodes as other types get the fields they share.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: `ModelError` `emptyIdentifier`, `cyclicModel`, `nestingTooDeep` or `unnamedType`,
  ///   before anything of the tree is written; ``StoreError`` `typeCollision`; `LMDBError` when the
  ///   disk refuses.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func set<M: SimpleModel & Encodable>(_ model: M) throws {
    try work.whole { try work.set(model) }
  }

  /// Stores an untyped tree by the same rules.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for a reference to nothing.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func set(_ tree: TreeNode) throws {
    try work.whole { try work.set(tree) }
  }

  /// Stores an untyped tree by the same rules, and does not count it as asked for.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As ``set(_:)-4p8yx``, and ``StoreError`` `noSuchNode` for a reference to nothing.
  package mutating func rewrite(_ tree: TreeNode) throws {
    try work.whole { try work.set(tree, isAskedFor: false) }
  }

  /// Lets the fields of a model flow into what is stored; fields it does not have stay.
  ///
  /// At every node of the tree: a record of the same type takes all given fields, a record of another
  /// type those it shares. A node that is not there is stored as given.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: As ``set(_:)-4p8yx``; ``StoreError`` `cyclicModel` when a node would contain itself.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge<M: SimpleModel & Encodable>(_ model: M) throws {
    try work.whole { try work.merge(model) }
  }

  /// Lets the fields of an untyped tree flow into what is stored.
  ///
  /// - Parameter tree: The tree; fields it does not name stay as they are.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for a reference to nothing.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge(_ tree: TreeNode) throws {
    try work.whole { try work.merge(tree) }
  }

  /// Deletes a node, whatever types it has records of.
  ///
  /// Optional edges to it become nil, lists, maps and collections lose it, and a parent that requires
  /// it is deleted too, and so on upward. Children of what is deleted stay.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: What was deleted and changed; `nil` if there is no such node.
  /// - Throws: `LMDBError` when the disk refuses; ``StoreError`` `damaged`.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it.
  @discardableResult
  public mutating func delete(_ identifier: String) throws -> Deletion? {
    try work.whole { try work.delete(identifier) }
  }

  /// Removes nodes that nobody holds, nobody asked for, and no collection lists.
  ///
  /// A node is asked for once it has been set as a root or has been in a collection.
  ///
  /// - Returns: How many nodes were removed.
  /// - Throws: `LMDBError` when the disk refuses; ``StoreError`` `damaged`.
  /// - Complexity: O(*n*) for *n* nodes.
  @discardableResult
  public mutating func prune() throws -> Int {
    try work.whole { try work.prune() }
  }

  /// Removes all nodes and collections; properties and the change log stay.
  ///
  /// - Throws: `LMDBError` when the disk refuses.
  /// - Complexity: O(*n*) for *n* nodes: each is named in the change set.
  public mutating func removeAll() throws {
    try work.whole { try work.removeAll() }
  }

  /// Keeps a small named value beside the models.
  ///
  /// - Parameters:
  ///   - name: A name of 1 to 400 bytes.
  ///   - value: The bytes; `nil` removes the property.
  /// - Throws: ``StoreError`` for a bad name; `LMDBError` when the disk refuses.
  public mutating func setProperty(_ name: String, to value: [UInt8]?) throws {
    let key = try PropertyKey(name)
    if let value {
      try work.put(value.span, forKey: key.bytes.span, in: work.tables.meta)
    } else {
      try work.deleteRow(key.bytes.span, in: work.tables.meta)
    }
  }

  /// Runs a part of the write that can fail by itself: if `body` throws, what it did is undone and
  /// the rest of the transaction goes on.
  ///
  /// - Parameter body: Gets a transaction inside this one.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, after its changes are undone.
  public mutating func nested<Result>(
    _ body: (inout ModelTransaction) throws -> Result
  ) throws -> Result {
    try work.nested {
      var inner = ModelTransaction(work)
      return try body(&inner)
    }
  }
}

extension ModelTransaction {
  /// Has removals of nodes remembered from now on, whoever removes them.
  ///
  /// - Parameter namespace: What their identifiers begin with, up to a colon.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func keepOrder(ofNamespace namespace: String) throws {
    try work.whole { try work.keepOrder(ofNamespace: namespace) }
  }

  /// The place of this write in the order of writes, which is that of its commit.
  ///
  /// It is a commit from now on, even if it changes nothing that anybody can see.
  ///
  /// - Returns: The place, as in ``WritePlace``.
  package mutating func takePlace() -> UInt64 {
    work.state.takesCommitNumber = true
    return WritePlace.of(commit: work.nextCommitNumber)
  }

  /// Tells that a node has changed, whose own data is as it was.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package mutating func touch(_ identifier: String) throws {
    guard let node = try work.reading({ try $0.node(identifier) }) else { return }
    work.state.changes.update(node, identifier)
  }

  /// Gives the last write to a node another place in the order than its commit number.
  ///
  /// - Parameters:
  ///   - mark: The place.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setOrderMark(_ mark: OrderMark, of identifier: String) throws {
    try work.whole {
      if mark.kind == .removed {
        work.state.placedRemovals.insert(ByteString(identifier))
        try work.rememberRemoval(of: identifier, place: mark.place)
      } else {
        try work.putMark(mark, of: identifier)
      }
    }
  }

  /// Puts a node elsewhere in the natural order.
  ///
  /// - Parameters:
  ///   - rank: A place that no other node has.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setNaturalRank(_ rank: UInt64, of identifier: String) throws {
    try work.whole {
      let value = LittleEndianValue(rank)
      try work.put(
        value.bytes.span, forKey: OrderKey.rank(identifier).span, in: work.tables.meta)
    }
  }
}

extension ModelTransaction {
  /// Makes an index of a field from the records there are, and keeps it from now on.
  ///
  /// - Parameters:
  ///   - field: The name under which the field is coded; with dots it leads through objects.
  ///   - typeName: The type, which need not have any records yet.
  /// - Returns: Whether there was no such index before.
  /// - Throws: ``StoreError`` `invalidIndex` for an empty or too long name; `ModelError` `badTypeName`;
  ///   `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func addIndex(on field: String, ofType typeName: String) throws -> Bool {
    try work.whole { try work.addIndex(onField: field, ofTypeNamed: typeName) }
  }

  /// Removes an index.
  ///
  /// - Parameters:
  ///   - field: The name under which the field is coded.
  ///   - typeName: The type.
  /// - Returns: Whether there was such an index.
  /// - Throws: `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func dropIndex(on field: String, ofType typeName: String) throws -> Bool {
    try work.whole { try work.dropIndex(onField: field, ofTypeNamed: typeName) }
  }
}
