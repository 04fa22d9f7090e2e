import PandoLMDB
public import PandoModels

/// One write of a store: either all its changes are committed, or none.
///
/// ```swift
/// try store.write { transaction in
///   try transaction.set(Person(id: 7, name: "Ada"))
///   try transaction.append([Person(id: 8, name: "Grace")], toCollection: "contacts")
/// }
/// ```
///
/// It lives in the closure of `write(context:_:)`; the compiler refuses to keep it. Writing thread
/// only.
public struct ModelTransaction: ~Copyable {
  let session: WriteSession

  init(_ session: WriteSession) { self.session = session }

  /// The same transaction, for a value that represents it inside the same closure.
  package func alias() -> ModelTransaction { ModelTransaction(session) }

  /// The store with the changes of this transaction so far.
  ///
  /// Values read through it must be released before the next change.
  public var snapshot: ModelSnapshot {
    @_lifetime(borrow self)
    get {
      session.settleBeforeRead()
      // The LMDB transaction lives as long as this value, which the borrow keeps from changing.
      let snapshot = ModelSnapshot(session.reader, path: session.core.path)
      return unsafe _overrideLifetime(snapshot, borrowing: self)
    }
  }

  /// The commit number after this transaction, as far as it has proceeded.
  ///
  /// - Throws: ``StoreError`` if the bytes on disk are damaged; `LMDBError` if the disk refuses.
  /// - Complexity: O(*n*) for *n* changed nodes.
  package var commitNumber: CommitNumber {
    get throws {
      if session.state.takesCommitNumber || session.state.changes.summary != nil {
        return try session.nextNumber()
      }
      let value = session.state.counters.commitNumber
      return try session.reading { try $0.number(value) }
    }
  }

  /// Makes this write return only when it is on the disk, regardless of the store's durability.
  ///
  /// Needed only with a durability below `full`, for a write that is more important than others.
  /// Readers see it as soon as it is committed. Other writes of the flush wait, too.
  public mutating func flushWhenCommitted() { session.state.isFlushed = true }

  /// Stores a model with its whole tree.
  ///
  /// Each node of the tree becomes a record; unchanged nodes are not written. Records of the same
  /// nodes as other types get the shared fields.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: `ModelError` `emptyIdentifier`, `cyclicModel`, `nestingTooDeep` or `unnamedType`,
  ///   before any change; ``StoreError`` `typeCollision`; `LMDBError` if the disk fails.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func set<M: SimpleModel & Encodable>(_ model: M) throws {
    let node = try session.whole { try session.set(model) }
    session.state.content?.set(model, node: node)
  }

  /// Stores an untyped tree by the same rules.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func set(_ tree: TreeNode) throws {
    session.state.content?.mix([.node(tree)])
    try session.whole { try session.set(tree) }
  }

  /// Stores an untyped tree by the same rules, without marking it as asked for.
  ///
  /// - Parameter tree: The tree; a `.reference` in it must name a stored node.
  /// - Throws: As ``set(_:)-4p8yx``, and ``StoreError`` `noSuchNode` for an unknown reference.
  package mutating func rewrite(_ tree: TreeNode) throws {
    session.state.content?.mix()
    try session.whole { try session.set(tree, isAskedFor: false) }
  }

  /// Merges the fields of a model into the stored nodes; fields that it does not have stay.
  ///
  /// At every node of the tree, a record of the same type gets all given fields, and a record of
  /// another type the shared ones. A missing node is stored as given.
  ///
  /// - Parameter model: A model with an identifier.
  /// - Throws: As `set(_:)`; ``StoreError`` `cyclicModel` if a node would contain itself.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge<M: SimpleModel & Encodable>(_ model: M) throws {
    session.state.content?.mix(model)
    try session.whole { try session.merge(model) }
  }

  /// Merges the fields of an untyped tree into the stored nodes.
  ///
  /// - Parameter tree: The tree; fields that it does not have stay.
  /// - Throws: As the typed form, and ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: O(log *n*) for each node of the tree.
  public mutating func merge(_ tree: TreeNode) throws {
    session.state.content?.mix([.node(tree)])
    try session.whole { try session.merge(tree) }
  }

  /// Deletes a node with the records of all its types.
  ///
  /// Optional edges to it become nil. Lists, maps and collections lose it. A parent that requires
  /// it is deleted, too, and so on upwards. Children of deleted nodes stay. A `DeletionRule`
  /// changes this for the children in one field.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The deleted and changed nodes.
  /// - Throws: ``StoreError`` `noSuchNode`; `restricted` with the restricting parent, without effect;
  ///   `damaged`; `LMDBError` if the disk fails.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that lists it.
  @discardableResult
  public mutating func delete(_ identifier: String) throws -> Deletion {
    if let deletion = try deleteIfPresent(identifier) { return deletion }
    throw StoreError.noSuchNode(identifier)
  }

  /// Deletes a node with the records of all its types, if it exists: see ``delete(_:)-(String)``.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The deleted and changed nodes; `nil` if there is no such node.
  /// - Throws: As the delete of a node that exists.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that lists it.
  @discardableResult
  public mutating func deleteIfPresent(_ identifier: String) throws -> Deletion? {
    session.state.content?.delete(identifier)
    return try session.whole { try session.delete(identifier) }
  }

  /// Deletes nodes in any order that their rules allow.
  ///
  /// - Parameter identifiers: The identifiers.
  /// - Returns: The nodes that existed when they were deleted.
  /// - Throws: As the delete of one node; `restricted` if the rules allow no order.
  @discardableResult
  package mutating func delete(_ identifiers: [String]) throws -> Set<ByteString> {
    var deleted: Set<ByteString> = []
    var left = identifiers
    while !left.isEmpty {
      var refusal: (any Error)?
      let before = left.count
      left = try left.filter { identifier in
        do {
          if try deleteIfPresent(identifier) != nil { deleted.insert(ByteString(identifier)) }
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

  /// Sets the deletion rules of a type for all processes, from now on.
  ///
  /// A `DeletionRuled` type declares its rules; this method is for types unknown to this process.
  ///
  /// - Parameters:
  ///   - rules: The rules, at most one per field; they replace the present ones.
  ///   - typeName: The type.
  /// - Throws: ``StoreError`` `invalidModel` for two rules of one field, or an invalid name;
  ///   `LMDBError` if the disk fails.
  /// - Complexity: O(log *n* + *r*) for *r* rules.
  public mutating func setDeletionRules(_ rules: [DeletionRule], ofType typeName: String) throws {
    try session.whole {
      _ = try session.typeNumber(named: typeName)
      try session.setDeletionRules(DeletionRules(rules), ofTypeNamed: typeName)
    }
  }

  /// Removes nodes that have no parent, were not asked for, and are in no collection.
  ///
  /// A node is asked for once it was set as a root or listed in a collection.
  ///
  /// - Returns: The number of removed nodes.
  /// - Throws: `LMDBError` if the disk fails; ``StoreError`` `damaged`.
  /// - Complexity: O(*n*) for *n* nodes.
  @discardableResult
  public mutating func prune() throws -> Int {
    session.state.content?.delete()
    return try session.whole { try session.prune() }
  }

  /// Removes all nodes and collections; properties and the change log stay.
  ///
  /// - Throws: `LMDBError` if the disk fails.
  /// - Complexity: O(*n*) for *n* nodes: the change set names each of them.
  public mutating func removeAll() throws {
    session.state.content?.delete()
    // Nodes that other machines add meanwhile are removed as well.
    session.state.notes?.isWholeStore = true
    try session.whole { try session.removeAll() }
  }

  /// Makes the write depend on everything that it could read, not only on what it changes.
  ///
  /// It serves a store that several machines share: if a write of another machine comes first, the
  /// closure runs again on the new state. Without it, the closure may have read old values of data
  /// that it does not change. In a store of one machine, writes always read the newest state.
  ///
  /// ```swift
  /// try await boards.store.write { transaction in
  ///   transaction.isolateWholeStore()
  ///   guard try transaction.snapshot.count(ofType: "Card") < 100 else { throw BoardError.full }
  ///   try transaction.set(card)
  /// }
  /// ```
  public mutating func isolateWholeStore() { session.state.notes?.isWholeStore = true }

  /// Stores a small named value beside the models.
  ///
  /// - Parameters:
  ///   - name: A name of 1 to 400 bytes.
  ///   - value: The bytes; `nil` removes the property.
  /// - Throws: ``StoreError`` for a bad name; `LMDBError` if the disk fails.
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

  /// Runs a part of the write that can fail alone: if `body` throws, its changes are rolled back
  /// and the rest of the transaction continues.
  ///
  /// - Parameter body: Receives a transaction inside this one.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, after its changes were rolled back.
  /// - Complexity: The cost of `body`, and O(*n*) for *n* nodes changed so far.
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
  /// Keeps a tombstone of each node that is removed from now on, by any write.
  ///
  /// - Parameter namespace: The first part of the identifiers, up to a colon.
  /// - Throws: `LMDBError` if the disk fails.
  package mutating func keepTombstones(ofNamespace namespace: String) throws {
    session.noteLocalChange()
    try session.whole { try session.keepTombstones(ofNamespace: namespace) }
  }

  /// The sequence number of this write, which is that of its commit.
  ///
  /// The write becomes a commit, even if it has no visible change.
  ///
  /// - Returns: The number, as in ``SequenceNumber``.
  package mutating func takeSequenceNumber() -> UInt64 {
    session.state.takesCommitNumber = true
    return SequenceNumber.of(commit: session.nextCommitNumber)
  }

  /// Makes all earlier writes outdated, as if every node had been removed.
  ///
  /// - Throws: `LMDBError` if the disk fails.
  package mutating func forgetOrder() throws {
    session.state.takesCommitNumber = true
    session.noteLocalChange()
    try session.whole { try session.forgetOrder() }
  }

  /// Reports a node as changed although its own data is the same.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  package mutating func touch(_ identifier: String) throws {
    guard let node = try session.reading({ try $0.node(identifier) }) else { return }
    session.state.changes.update(node, identifier)
  }

  /// Sets a sequence number for the last write to a node that differs from that of its commit.
  ///
  /// - Parameters:
  ///   - row: The number, and its kind.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` if the disk fails.
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

  /// Changes the position of a node in the natural order.
  ///
  /// - Parameters:
  ///   - rank: A position unique to this node.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` if the disk fails.
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
  /// Creates an index of a field from the existing records, and maintains it from now on.
  ///
  /// - Parameters:
  ///   - field: The coding name of the field; with dots it leads through objects.
  ///   - typeName: The type, which need not have records yet.
  /// - Returns: Whether there was no such index before.
  /// - Throws: ``StoreError`` `invalidIndex` for an empty or too long name; `ModelError` `badTypeName`;
  ///   `LMDBError` if the disk fails.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func addIndex(on field: String, ofType typeName: String) throws -> Bool {
    try addIndex(on: [field], ofType: typeName)
  }

  /// Creates an index of several fields, or a unique one, and maintains it from now on.
  ///
  /// A write that would give two records the same values of a unique index fails with
  /// ``StoreError`` `valueTaken`. The check comes at the end of the write, so two records may
  /// exchange values in one write. Null, which includes an absent field, is exempt.
  ///
  /// ```swift
  /// try store.write { try $0.addIndex(on: ["email"], ofType: "User", unique: true) }
  /// ```
  /// An existing index of the same fields becomes unique. Former names and defaults of the fields
  /// count if this process has used the type, or got it in `models`; else from the first write of
  /// the type on.
  ///
  /// - Parameters:
  ///   - fields: The coding names of the fields, 1 to 8 of them, in the order of comparison;
  ///     together at most 400 bytes.
  ///   - typeName: The type, which need not have records yet.
  ///   - unique: Whether values must be unique among records.
  ///   - sums: The coding names of up to 8 numbers of the record itself that the index sums up; an index with
  ///     totals also without a sum, `[]`, gives the number of records in any range. `nil` adds no totals.
  /// - Returns: Whether there was no such index before.
  /// - Throws: ``StoreError`` `invalidIndex` for invalid names; ``StoreError`` `valueTaken` if
  ///   records already share a value; `ModelError` `badTypeName`; `LMDBError` if the disk fails.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func addIndex(
    on fields: [String], ofType typeName: String, unique: Bool = false, sums: [String]? = nil
  ) throws -> Bool {
    try session.whole {
      try session.addIndex(
        onFields: fields, ofTypeNamed: typeName, isUnique: unique, sums: sums)
    }
  }

  /// Creates an index as a type declares it.
  ///
  /// Its rows are made again if the type now declares other former names or defaults, or another type
  /// of a field.
  ///
  /// - Returns: Whether rows were made, or the index became unique.
  package mutating func addIndex(_ index: ModelIndex) throws -> Bool {
    try session.whole {
      try session.addIndex(
        on: index.paths(), ofTypeNamed: index.typeName, isUnique: index.isUnique,
        sums: index.sumPaths())
    }
  }

  /// The values that unique indexes would refuse at the present end of the write.
  ///
  /// - Complexity: O(*n* log *n*) for *n* values that the write has put into unique indexes.
  package mutating func takenValues() throws -> [TakenValue] { try session.takenValues() }

  /// Removes an index.
  ///
  /// - Parameters:
  ///   - field: The coding name of the field.
  ///   - typeName: The type.
  /// - Returns: Whether there was such an index.
  /// - Throws: `LMDBError` if the disk fails.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func dropIndex(on field: String, ofType typeName: String) throws -> Bool {
    try dropIndex(on: [field], ofType: typeName)
  }

  /// Removes an index of several fields.
  ///
  /// - Parameters:
  ///   - fields: The coding names of the fields, in order.
  ///   - typeName: The type.
  /// - Returns: Whether there was such an index.
  /// - Throws: `LMDBError` if the disk fails.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func dropIndex(on fields: [String], ofType typeName: String) throws -> Bool {
    try session.whole { try session.dropIndex(onFields: fields, ofTypeNamed: typeName) }
  }
}
