import PandoLMDB
import PandoModels
import PandoSystem

/// The work of one flush: the LMDB transaction, the counters, and what the write under way has done.
///
/// All rules of writing live in extensions of this class, one concern a file; ``ModelTransaction`` is
/// the face that users see. For the thread that leads the flush.
@safe final class WriteSession: PendingRows, FieldChildren {
  /// What a nested transaction that throws puts back.
  struct State {
    var counters: StoreState
    var changes: ChangeRecorder
    /// Type rows read or changed in this flush.
    var types = TypeRows()
    /// Numbers of the Swift types met in this flush; a list, because trees show few types.
    var swiftTypes: [KnownType] = []
    /// The rows of nodes by type that this flush has changed and not written yet.
    var typeBlocks = TypeBlocks()
    /// How many records came and went in this flush, by type number.
    var recordDifferences: [Int] = []
    /// Which removals of this write have a sequence number already.
    var numberedRemovals: Set<ByteString> = []
    /// Whether what this write removes needs no tombstones, because all that began before comes too late.
    var forgetsOrder = false
    /// Whose removals are remembered; `nil` if this flush has not asked.
    var tombstoneNamespaces: TombstoneNamespaces?
    /// Whether this write is a commit even if it changes nothing.
    var takesCommitNumber = false
    /// How much of the change log is kept; `nil` if this flush has not asked.
    var retention: ChangeLogRetention?
    /// The change sets that are in no table yet; `nil` if this flush has not asked.
    var newestChanges: NewestChanges?
    /// The history of what this flush commits; `nil` if it has committed nothing.
    var history: UInt64?
    /// The deletion rules of each type that has some, once this flush has asked.
    var deletionRules: [UInt32: DeletionRules]?
    /// The indexes of each type, once this flush has asked.
    var indexes: [UInt32: [StoredIndex]]?
    /// Whose rows lead through records of other types: those types, once this flush has asked.
    var childTypes: Set<UInt32> = []
    /// The fields of such a type that the names of indexes lead through.
    var childSteps: [UInt32: [FieldKey]] = [:]
    /// Records of such types that this write has changed, as far as rows have not followed.
    var changedChildren: Set<RecordKey> = []
    /// Whose index rows are to be made anew before anybody reads them, and where the write ends.
    var unsettledRows: Set<RowOwner> = []
    /// What this write has put into unique indexes and nobody has checked yet.
    var uniqueRows: [(index: StoredIndex, row: [UInt8])] = []
    /// Whether this write has put or deleted a row.
    var isDirty = false
    /// Whether the writes of this flush have removed something, or stored something new.
    var frees = false
    var adds = false
    /// Whether they may use the room that is kept for what frees space.
    var isRelief: Bool { frees && !adds }
    /// Whether the operation under way has changed rows that others speak of.
    var isHalfDone = false
    /// The models that this write was given; `nil` if nobody follows the store.
    var content: WrittenContent?
    /// What other stores have to know of this write; `nil` if the store has no log.
    var notes: ReplicationNotes?
    /// Schema versions that the log does not have yet, and the next write brings it.
    var schemas: [SchemaNote] = []
    /// Whether the write is to be on the disk when it is answered.
    var isFlushed = false
    /// What an operation threw that had changed rows: the write can't be kept.
    var failure: (any Error)?
  }

  /// Valid while the closure that the environment runs for this flush has not returned; replaced
  /// while a nested transaction runs.
  @exclusivity(unchecked) private(set) var transaction: UnsafeMutablePointer<WriteTransaction>
  let core: StoreCore
  /// Owned by this object; behind a pointer, because nothing asks at run time who else is in it.
  private let storage: UnsafeMutablePointer<State>
  // Nobody is called while one of these two is accessed, and only the thread that writes does.
  /// The identifiers that the operation under way has put into their table: for the case that it fails.
  @exclusivity(unchecked) private var insertedIdentifiers: [String] = []
  /// The records whose trees the operation under way may have made deeper.
  @exclusivity(unchecked) var grown: [GrownRecord] = []
  /// Where nodes and edges are appended; what else changes their tables leaves these ends before.
  @exclusivity(unchecked) private var nodesEnd: TableEnd
  @exclusivity(unchecked) private var parentsEnd: TableEnd
  /// The counters as they were read when the flush began.
  let countersAtStart: StoreState?

  /// What the flush has done.
  ///
  /// Nobody is called while a part of it is accessed.
  var state: State {
    // Addresses and no coroutines: without optimization the compiler (Swift 6.3) destroys a part of a
    // large value that a coroutine has yielded after the coroutine's memory has been freed.
    @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { unsafe storage }
  }

  var tables: StoreTables { core.tables }
  var directory: TypeDirectory { core.directory }

  init(_ transaction: UnsafeMutablePointer<WriteTransaction>, core: StoreCore) throws {
    unsafe self.transaction = unsafe transaction
    self.core = core
    unsafe nodesEnd = TableEnd(core.tables.nodes)
    unsafe parentsEnd = TableEnd(core.tables.parents)
    let handle = unsafe transaction.pointee.unsafeHandle
    let reader = unsafe StoreReader(
      Snapshot(unsafeHandle: handle), tables: core.tables, directory: core.directory, pending: nil)
    let counters = try reader.state(path: core.path)
    try core.checkIdentity(counters)
    countersAtStart = counters
    let start = counters ?? StoreState(storeIdentifier: core.newStoreIdentifier)
    unsafe storage = .allocate(capacity: 1)
    unsafe storage.initialize(
      to: State(counters: start, changes: ChangeRecorder(firstNewNode: start.nextNode)))
  }

  deinit {
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }

  /// A reader of the present state, good until the next change.
  ///
  /// Whoever calls this answers for that; ``reading(_:)`` and the borrow in
  /// ``ModelTransaction/snapshot`` do.
  var reader: StoreReader {
    @_lifetime(borrow self)
    get {
      let handle = unsafe transaction.pointee.unsafeHandle
      let snapshot = unsafe Snapshot(unsafeHandle: handle)
      let reader = StoreReader(snapshot, tables: tables, directory: directory, pending: self)
      return unsafe _overrideLifetime(reader, borrowing: self)
    }
  }

  /// Runs a closure with a reader of the present state.
  func reading<Result>(_ body: (borrowing StoreReader) throws -> Result) rethrows -> Result {
    try body(reader)
  }

  private func noteChange() {
    state.isDirty = true
    state.isHalfDone = true
  }

  /// Lets go of the end of a table that is about to be changed elsewhere.
  private func leaveEnd(of table: RawTable) {
    if table == tables.nodes {
      unsafe transaction.pointee.leave(&nodesEnd)
    } else if table == tables.parents {
      unsafe transaction.pointee.leave(&parentsEnd)
    }
  }

  func put(_ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable) throws {
    noteChange()
    leaveEnd(of: table)
    try unsafe transaction.pointee.put(value, forKey: key, in: table)
  }

  /// Puts a row where there is none.
  ///
  /// - Parameters:
  ///   - value: Its value.
  ///   - key: Its key.
  ///   - table: A table.
  ///   - body: Reads the value that is there already, and stays.
  /// - Returns: The result of `body`; `nil` if there was no row.
  /// - Throws: `LMDBError`.
  func insertRow<Found>(
    _ value: Span<UInt8>, forKey key: Span<UInt8>, in table: RawTable,
    _ body: (Span<UInt8>) -> Found
  ) throws -> Found? {
    noteChange()
    leaveEnd(of: table)
    let found = try unsafe transaction.pointee.insertOrFind(value, forKey: key, in: table)
    guard let found = unsafe found else { return nil }
    // Read before the next change.
    return body(unsafe found.bindMemory(to: UInt8.self).span)
  }

  @discardableResult
  func deleteRow(_ key: Span<UInt8>, in table: RawTable) throws -> Bool {
    noteChange()
    leaveEnd(of: table)
    return try unsafe transaction.pointee.delete(key: key, in: table)
  }

  func removeAllRows(in table: RawTable) throws {
    noteChange()
    leaveEnd(of: table)
    try unsafe transaction.pointee.removeAll(in: table)
  }

  /// Runs an operation that changes rows of a table of its own, such as those of an ordered list: not
  /// those of nodes and edges.
  func withTransaction<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) rethrows -> Result {
    noteChange()
    return try unsafe body(&transaction.pointee)
  }

  /// Runs one operation of a write.
  ///
  /// One that throws after it has changed rows has left them half done. A closure may catch the error
  /// and go on, but then the write as a whole fails with it.
  func whole<Result>(_ body: () throws -> Result) throws -> Result {
    state.isHalfDone = false
    unsafe insertedIdentifiers.removeAll(keepingCapacity: true)
    if unsafe !grown.isEmpty { unsafe grown = [] }
    do {
      let result = try body()
      if unsafe !grown.isEmpty { try refuseDepth() }
      if unsafe !insertedIdentifiers.isEmpty { state.isDirty = true }
      return result
    } catch {
      throw failed(error)
    }
  }

  /// Notes that an operation has thrown.
  ///
  /// - Returns: The error that its caller gets.
  @inline(never)
  private func failed(_ error: any Error) -> any Error {
    let error = (error as? CountedListError).map { StoreError($0, "a collection") } ?? error
    if !state.isHalfDone { removeInsertedIdentifiers() }
    if state.isHalfDone, state.failure == nil { state.failure = error }
    return error
  }

  /// Takes the new identifiers of a refused tree out of their table: then nothing of it is left.
  private func removeInsertedIdentifiers() {
    do {
      for identifier in unsafe insertedIdentifiers {
        let key = IdentifierKey(identifier)
        try unsafe transaction.pointee.delete(key: key.bytes.span, in: tables.identifiers)
      }
      unsafe insertedIdentifiers.removeAll(keepingCapacity: true)
    } catch {
      state.isDirty = true
      state.isHalfDone = true
    }
  }

  /// Takes the new identifiers of nodes that were not stored after all out of their table.
  func removeUnusedIdentifiers() throws {
    for identifier in unsafe insertedIdentifiers {
      guard let node = try reading({ try $0.node(identifier) }),
        try !reading({ try $0.contains(node: node) })
      else { continue }
      let key = IdentifierKey(identifier)
      try unsafe transaction.pointee.delete(key: key.bytes.span, in: tables.identifiers)
    }
  }

  /// The number of an identifier, given now if it has none.
  func insertIdentifier(_ identifier: String) throws -> (number: UInt64, isNew: Bool) {
    guard identifier.utf8.count <= IdentifierKey.shortByteCountMaximum else {
      return try insertLongIdentifier(identifier)
    }
    let next = state.counters.nextNode
    let value = LittleEndianValue(next)
    let found = try unsafe transaction.pointee.insertOrFind(
      value.bytes.span, forKey: identifier.utf8Span.span, in: tables.identifiers)
    if let found = unsafe found {
      guard found.count >= 8 else {
        throw StoreError.damaged(identifier, "its identifier row is malformed")
      }
      // In bounds by the line above; read before the next change.
      return unsafe (UInt64(littleEndian: found.loadUnaligned(as: UInt64.self)), false)
    }
    unsafe insertedIdentifiers.append(identifier)
    return (try takeNodeNumber(), true)
  }

  private func insertLongIdentifier(_ identifier: String) throws -> (number: UInt64, isNew: Bool) {
    if let node = try reading({ try $0.node(identifier) }) { return (node, false) }
    let node = try takeNodeNumber()
    let key = IdentifierKey(identifier)
    var value: [UInt8] = []
    ByteFields.append(node, width: 8, to: &value)
    value.append(contentsOf: identifier.utf8)
    try unsafe transaction.pointee.put(
      value.span, forKey: key.bytes.span, in: tables.identifiers)
    unsafe insertedIdentifiers.append(identifier)
    return (node, true)
  }

  /// Makes room for the row of a node that is probably the last one.
  ///
  /// The room is to be filled before anything else is done.
  func reserveNode(
    _ byteCount: Int, forKey key: Span<UInt8>
  ) throws -> UnsafeMutableRawBufferPointer {
    noteChange()
    return try unsafe transaction.pointee.reserve(byteCount, forKey: key, at: &nodesEnd)
  }

  /// Makes room for the row of an edge that is probably the last one.
  ///
  /// The room is to be filled before anything else is done.
  func reserveEdge(
    _ byteCount: Int, forKey key: Span<UInt8>
  ) throws -> UnsafeMutableRawBufferPointer {
    noteChange()
    return try unsafe transaction.pointee.reserve(byteCount, forKey: key, at: &parentsEnd)
  }

  /// Runs a closure with a collector, which serves it alone.
  func collecting<Result>(_ body: (RecordCollector) throws -> Result) rethrows -> Result {
    let collector = ThreadSlot.collecting.take() ?? RecordCollector(self)
    collector.begin(self)
    defer {
      collector.forget()
      ThreadSlot.collecting.put(collector)
    }
    return try body(collector)
  }

  /// Runs a closure in a nested transaction: if it throws, its rows and its changes are undone.
  func nested<Result>(_ body: () throws -> Result) throws -> Result {
    let saved = state
    let outer = unsafe transaction
    leaveEnd(of: tables.nodes)
    leaveEnd(of: tables.parents)
    defer {
      unsafe transaction = outer
      // Cursors of the inner transaction have ended with it.
      unsafe nodesEnd = TableEnd(tables.nodes)
      unsafe parentsEnd = TableEnd(tables.parents)
    }
    do {
      return try unsafe outer.pointee.nested { inner in
        try unsafe withUnsafeMutablePointer(to: &inner) { inner in
          unsafe transaction = inner
          let result = try body()
          if let failure = state.failure { throw failure }
          try settleIndexRows()
          try checkUniqueRows()
          return result
        }
      }
    } catch {
      state = saved
      state.isDirty = true
      throw error
    }
  }
}

extension WriteSession {
  /// Begins the next write of the flush.
  ///
  /// - Parameter keepsContent: Whether somebody wants the models that it is given.
  func beginWrite(keepsContent: Bool = false) {
    state.content = keepsContent ? WrittenContent() : nil
    state.changes = ChangeRecorder(firstNewNode: state.counters.nextNode)
    state.isDirty = false
    state.failure = nil
    state.takesCommitNumber = false
    state.isFlushed = false
    state.numberedRemovals = []
    state.forgetsOrder = false
    if !state.uniqueRows.isEmpty { state.uniqueRows = [] }
    if state.counters.isReplicated { beginNotes() }
  }

  /// Ends a write: numbers it and logs its change set.
  ///
  /// - Returns: `nil` if the write changed nothing that anybody can see.
  func endWrite(context: (any Sendable)?) throws -> ChangeSet? {
    if let failure = state.failure { throw failure }
    try settleIndexRows()
    try checkUniqueRows()
    guard
      let changes = state.changes.summary
        ?? (state.takesCommitNumber ? ChangeRecorder.Summary() : nil)
    else { return nil }
    let number = try nextNumber()
    try putTombstones(of: changes.deleted, commitNumber: number.value)
    let changeSet = ChangeSet(
      commitNumber: number, updated: changes.updated, inserted: changes.inserted,
      deleted: changes.deleted, collections: changes.collections, author: core.author,
      date: core.now(),
      context: context)
    state.counters.commitNumber = number.value
    try log(changeSet)
    return changeSet
  }

  /// Ends the flush: writes the counters that have changed.
  func endFlush() throws {
    try writeTypeBlocks()
    for (number, difference) in state.recordDifferences.enumerated() where difference != 0 {
      let name = try typeName(UInt32(number))
      state.types.change(name) { row in
        let count = Int64(bitPattern: row.recordCount) + Int64(difference)
        precondition(count >= 0, "type \(name) would have \(count) records")
        row.recordCount = UInt64(count)
      }
    }
    state.recordDifferences = []
    for (name, row) in state.types.takeChanged() {
      let bytes = row.bytes
      try put(bytes.span, forKey: name.utf8Span.span, in: tables.types)
    }
    try writeChangeLog()
    if state.counters != countersAtStart { try putCounters() }
  }

  func putCounters() throws {
    let bytes = state.counters.bytes
    let key = StoreState.key
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }
}
