import PandoLMDB
public import PandoModels

/// One write of a store: everything done through it is committed, or nothing.
///
/// ```swift
/// try store.write { transaction in
///   try transaction.set(Person(id: 7, name: "Ada"))
///   try transaction.append([Person(id: 8, name: "Grace")], toCollection: "contacts")
/// }
/// ```
///
/// It lives in the closure given to `write(context:_:)`; the compiler refuses to
/// keep it. Writer thread only.
public struct ModelTransaction: ~Copyable {
  let session: WriteSession

  init(_ session: WriteSession) { self.session = session }

  /// The same transaction, for a value that stands for it inside the same closure.
  package func alias() -> ModelTransaction { ModelTransaction(session) }

  /// The store as this transaction has made it so far.
  ///
  /// What is read through it must be let go before the next change.
  public var snapshot: ModelSnapshot {
    @_lifetime(borrow self)
    get {
      session.settleBeforeRead()
      // The LMDB transaction lives as long as this value, which the borrow keeps from changing.
      let snapshot = ModelSnapshot(session.reader, path: session.core.path)
      return unsafe _overrideLifetime(snapshot, borrowing: self)
    }
  }

  /// The commit number that readers see once this transaction is committed, as far as it has gone.
  ///
  /// - Complexity: O(*n*) for *n* nodes changed so far.
  package var commitNumber: UInt64 {
    let isCommit = session.state.takesCommitNumber || session.state.changes.summary != nil
    return isCommit ? session.nextCommitNumber : session.state.counters.commitNumber
  }

  /// Has this write be answered only when it is on the disk, whatever durability the store has.
  ///
  /// Of use with a durability below `full`: what matters more than the rest waits for a flush by itself.
  /// Others see it as soon as it is committed. Writes of the same flush wait with it.
  public mutating func flushWhenCommitted() { session.state.isFlushed = true }

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
    let isOneNode = try session.whole { try session.set(model) }
    session.state.content?.set(model, isOneNode: isOneNode)
  }

  /// Stores an untyped tree by the same rules.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for a reference to nothing.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func set(_ tree: TreeNode) throws {
    session.state.content?.mix([.node(tree)])
    try session.whole { try session.set(tree) }
  }

  /// Stores an untyped tree by the same rules, and does not count it as asked for.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As ``set(_:)-4p8yx``, and ``StoreError`` `noSuchNode` for a reference to nothing.
  package mutating func rewrite(_ tree: TreeNode) throws {
    session.state.content?.mix()
    try session.whole { try session.set(tree, isAskedFor: false) }
  }

  /// Lets the fields of a model flow into what is stored; fields it does not have stay.
  ///
  /// At every node of the tree: a record of the same type takes all given fields, a record of another
  /// type those it shares. A node that is not there is stored as given.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: As `set(_:)`; ``StoreError`` `cyclicModel` when a node would contain itself.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge<M: SimpleModel & Encodable>(_ model: M) throws {
    session.state.content?.mix(model)
    try session.whole { try session.merge(model) }
  }

  /// Lets the fields of an untyped tree flow into what is stored.
  ///
  /// - Parameter tree: The tree; fields it does not name stay as they are.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for a reference to nothing.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge(_ tree: TreeNode) throws {
    session.state.content?.mix([.node(tree)])
    try session.whole { try session.merge(tree) }
  }

  /// Deletes a node, whatever types it has records of.
  ///
  /// Optional edges to it become nil, lists, maps and collections lose it, and a parent that requires
  /// it is deleted too, and so on upward. Children of what is deleted stay. A `DeletionRule` changes that for
  /// the children in one field.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: What was deleted and changed; `nil` if there is no such node.
  /// - Throws: ``StoreError`` `restricted`, which says by whom, and nothing is done; `damaged`; `LMDBError`
  ///   when the disk refuses.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it.
  @discardableResult
  public mutating func delete(_ identifier: String) throws -> Deletion? {
    session.state.content?.delete(identifier)
    return try session.whole { try session.delete(identifier) }
  }

  /// Deletes nodes in whatever order their rules allow for.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: Those that were there when their turn came.
  /// - Throws: As the delete of one node; `restricted` if no order is left that the rules allow for.
  @discardableResult
  package mutating func delete(_ identifiers: [String]) throws -> Set<ByteString> {
    var deleted: Set<ByteString> = []
    var left = identifiers
    while !left.isEmpty {
      var refusal: (any Error)?
      let before = left.count
      left = try left.filter { identifier in
        do {
          if try delete(identifier) != nil { deleted.insert(ByteString(identifier)) }
          return false
        } catch let error as StoreError where error.code == .restricted {
          refusal = error
          return true
        }
      }
      if left.count == before, let refusal { throw refusal }
    }
    return deleted
  }

  /// Says what deletes do at the edges of a type, in every process from now on.
  ///
  /// A type that is `DeletionRuled` says it by itself; this is for types that nobody knows here.
  ///
  /// - Parameters:
  ///   - rules: The rules, at most one for a field; they replace those there were.
  ///   - typeName: The type.
  /// - Throws: ``StoreError`` `invalidModel` for two rules for one field, or a name that can't be kept;
  ///   `LMDBError` when the disk refuses.
  /// - Complexity: O(log *n* + *r*) for *r* rules.
  public mutating func setDeletionRules(_ rules: [DeletionRule], ofType typeName: String) throws {
    try session.whole {
      _ = try session.typeNumber(named: typeName)
      try session.setDeletionRules(DeletionRules(rules), ofTypeNamed: typeName)
    }
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
    session.state.content?.delete()
    return try session.whole { try session.prune() }
  }

  /// Removes all nodes and collections; properties and the change log stay.
  ///
  /// - Throws: `LMDBError` when the disk refuses.
  /// - Complexity: O(*n*) for *n* nodes: each is named in the change set.
  public mutating func removeAll() throws {
    session.state.content?.delete()
    // What others have made meanwhile is to go as well.
    session.state.notes?.isWholeStore = true
    try session.whole { try session.removeAll() }
  }

  /// Makes the write depend on all that it could have read, and not only on what it changes.
  ///
  /// Of use in a store that several machines hold: if any write of another machine comes before this one, its closure runs
  /// again on what that has left. Without it a closure may have read what another machine has changed meanwhile, if it
  /// changes something else. In a store of one machine writes never see anything but the newest state.
  ///
  /// ```swift
  /// try await boards.store.write { transaction in
  ///   transaction.isolateWholeStore()
  ///   guard try transaction.snapshot.count(ofType: "Card") < 100 else { throw BoardError.full }
  ///   try transaction.set(card)
  /// }
  /// ```
  public mutating func isolateWholeStore() { session.state.notes?.isWholeStore = true }

  /// Keeps a small named value beside the models.
  ///
  /// - Parameters:
  ///   - name: A name of 1 to 400 bytes.
  ///   - value: The bytes; `nil` removes the property.
  /// - Throws: ``StoreError`` for a bad name; `LMDBError` when the disk refuses.
  /// - Complexity: O(log *n*).
  public mutating func setProperty(_ name: String, to value: [UInt8]?) throws {
    let key = try PropertyKey(name)
    session.noteLocalChange()
    if let value {
      session.state.adds = true
      try session.put(value.span, forKey: key.bytes.span, in: session.tables.meta)
    } else {
      let isGone = try session.deleteRow(key.bytes.span, in: session.tables.meta)
      if isGone { session.state.frees = true }
    }
  }

  /// Runs a part of the write that can fail by itself: if `body` throws, what it did is undone and
  /// the rest of the transaction goes on.
  ///
  /// - Parameter body: Gets a transaction inside this one.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, after its changes are undone.
  /// - Complexity: What `body` costs, and O(*n*) for *n* nodes changed so far: what is noted of them is copied.
  public mutating func nested<Result>(
    _ body: (inout ModelTransaction) throws -> Result
  ) throws -> Result {
    try session.nested {
      var inner = ModelTransaction(session)
      return try body(&inner)
    }
  }
}

extension ModelTransaction {
  /// Keeps a tombstone of each node that is removed from now on, whoever removes it.
  ///
  /// - Parameter namespace: What their identifiers begin with, up to a colon.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func keepTombstones(ofNamespace namespace: String) throws {
    session.noteLocalChange()
    try session.whole { try session.keepTombstones(ofNamespace: namespace) }
  }

  /// The sequence number of this write, which is that of its commit.
  ///
  /// It is a commit from now on, even if it changes nothing that anybody can see.
  ///
  /// - Returns: The number, as in ``SequenceNumber``.
  package mutating func takeSequenceNumber() -> UInt64 {
    session.state.takesCommitNumber = true
    return SequenceNumber.of(commit: session.nextCommitNumber)
  }

  /// Lets everything that began before this write come too late, as if every node had been removed.
  ///
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func forgetOrder() throws {
    session.state.takesCommitNumber = true
    session.noteLocalChange()
    try session.whole { try session.forgetOrder() }
  }

  /// Tells that a node has changed, whose own data is as it was.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package mutating func touch(_ identifier: String) throws {
    guard let node = try session.reading({ try $0.node(identifier) }) else { return }
    session.state.changes.update(node, identifier)
  }

  /// Gives the last write to a node another sequence number than that of its commit.
  ///
  /// - Parameters:
  ///   - row: The number, and what it is that of.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setSequenceRow(_ row: SequenceRow, of identifier: String) throws {
    session.noteLocalChange()
    try session.whole {
      if row.kind == .tombstone {
        session.state.numberedRemovals.insert(ByteString(identifier))
        try session.putTombstone(of: identifier, sequenceNumber: row.sequenceNumber)
      } else {
        try session.putSequenceRow(row, of: identifier)
      }
    }
  }

  /// Puts a node elsewhere in the natural order.
  ///
  /// - Parameters:
  ///   - rank: A position that no other node has.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setNaturalRank(_ rank: UInt64, of identifier: String) throws {
    session.noteLocalChange()
    try session.whole {
      let value = LittleEndianValue(rank)
      try session.put(
        value.bytes.span, forKey: SequenceKey.rank(identifier).span, in: session.tables.meta)
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
    try addIndex(on: [field], ofType: typeName)
  }

  /// Makes an index of several fields, or one that allows each value once, and keeps it from now on.
  ///
  /// A write that would give two records the values of a unique index fails with ``StoreError``
  /// `valueTaken`; what counts is how the write leaves the records, so two may change values in one
  /// write. Null, which is also that of an absent field, is no value.
  ///
  /// ```swift
  /// try store.write { try $0.addIndex(on: ["email"], ofType: "User", unique: true) }
  /// ```
  /// An index of the same fields that is there becomes unique. Former names and defaults of the fields count
  /// if this process has used the type, or has been given it in `models`; else they count from the first
  /// write of the type on.
  ///
  /// - Parameters:
  ///   - fields: The names under which the fields are coded, 1 to 8 of them, in the order of their
  ///     weight; together at most 400 bytes.
  ///   - typeName: The type, which need not have any records yet.
  ///   - unique: Whether no two records may have the same values.
  /// - Returns: Whether there was no such index before.
  /// - Throws: ``StoreError`` `invalidIndex` for names that can't be; ``StoreError`` `valueTaken` when
  ///   records share a value already; `ModelError` `badTypeName`; `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func addIndex(
    on fields: [String], ofType typeName: String, unique: Bool = false
  ) throws -> Bool {
    try session.whole {
      try session.addIndex(onFields: fields, ofTypeNamed: typeName, isUnique: unique)
    }
  }

  /// Makes an index as a type declares it.
  ///
  /// Its rows are made anew if the type declares other former names or defaults than they were made for.
  ///
  /// - Returns: Whether rows were made, or the index became unique.
  package mutating func addIndex(_ index: ModelIndex) throws -> Bool {
    try session.whole {
      try session.addIndex(
        on: index.paths(), ofTypeNamed: index.typeName, isUnique: index.isUnique)
    }
  }

  /// The values that unique indexes would refuse if the write ended now.
  ///
  /// - Complexity: O(*n* log *n*) for *n* values that the write has put into unique indexes.
  package mutating func takenValues() throws -> [TakenValue] { try session.takenValues() }

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
    try dropIndex(on: [field], ofType: typeName)
  }

  /// Removes an index of several fields.
  ///
  /// - Parameters:
  ///   - fields: The names under which the fields are coded, in their order.
  ///   - typeName: The type.
  /// - Returns: Whether there was such an index.
  /// - Throws: `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func dropIndex(on fields: [String], ofType typeName: String) throws -> Bool {
    try session.whole { try session.dropIndex(onFields: fields, ofTypeNamed: typeName) }
  }
}
