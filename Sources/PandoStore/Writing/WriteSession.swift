import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

/// The work of one flush: LMDB transaction, counters, and changes of the write under way.
///
/// Extensions of this class contain all rules of writing, one concern per file;
/// ``ModelTransaction`` is the public interface. Only the leading thread of the flush uses it.
@safe final class WriteSession: PendingRows, FieldChildren {
  /// The state that a nested transaction restores when it throws.
  ///
  /// ``beginWrite(keepsContent:)`` resets the members of a write: `changes`, `numberedRemovals`,
  /// `forgetsOrder`, `takesCommitNumber`, `isDirty`, `isFlushed`, `failure`, `uniqueRows`,
  /// `content`, `notes`. All others belong to the flush, and most cache rows. At the end of a write
  /// `changedChildren`, `unsettledRows` and `uniqueRows` are empty.
  struct State {
    var counters: StoreState
    var changes: ChangeRecorder
    /// Type rows that this flush has read or changed.
    var types = TypeRows()
    /// Numbers of the Swift types used in this flush; a list, because trees have few types.
    var swiftTypes: [KnownType] = []
    /// The rows of nodes by type that this flush has changed and not written yet.
    var typeBlocks = TypeBlocks()
    /// The change in the number of records in this flush, by type number.
    var recordDifferences: [Int] = []
    /// The removals of this write that already have a sequence number.
    var numberedRemovals: Set<ByteString> = []
    /// Whether removals of this write need no tombstones, because all earlier writes are outdated.
    var forgetsOrder = false
    /// The namespaces with tombstones; `nil` before the first use.
    var tombstoneNamespaces: TombstoneNamespaces?
    /// Whether this write is a commit even without changes.
    var takesCommitNumber = false
    /// How much of the change log is kept; `nil` before the first use.
    var retention: ChangeLogRetention?
    /// The change sets that are in no table yet; `nil` before the first use.
    var newestChanges: NewestChanges?
    /// The history of this flush's commits; `nil` before the first one.
    var history: UInt64?
    /// The deletion rules by type; `nil` before the first use.
    var deletionRules: [UInt32: DeletionRules]?
    /// The indexes by type; `nil` before the first use.
    var indexes: [UInt32: [StoredIndex]]?
    /// The types of other records on which index rows depend; valid with `indexes`.
    var childTypes: Set<UInt32> = []
    /// The fields of such types in the names of indexes.
    var childSteps: [UInt32: [FieldKey]] = [:]
    /// The changed records of such types whose dependent rows were not updated yet.
    var changedChildren: Set<RecordKey> = []
    /// The index rows to make again before the next read or the end of the write.
    var unsettledRows: Set<RowOwner> = []
    /// The unchecked rows of this write in unique indexes.
    var uniqueRows: [(index: StoredIndex, row: [UInt8])] = []
    /// The changed rows of indexes with totals that are not in the totals yet, by index number.
    var rowChanges: [UInt32: [RowChange]] = [:]
    /// The changed rows of indexes of words that are not stored yet, by index number.
    var wordChanges: [UInt32: WordChanges] = [:]
    /// Whether this write has put or deleted a row.
    var isDirty = false
    /// Whether the writes of this flush have removed or added data.
    var frees = false
    var adds = false
    /// Whether they may use the room reserved for writes that free space.
    var isRelief: Bool { frees && !adds }
    /// Whether the operation under way has changed only some of several related rows.
    var isHalfDone = false
    /// The models passed to this write; `nil` without followers.
    var content: WrittenContent?
    /// Facts about this write for other stores; `nil` without a log.
    var notes: ReplicationNotes?
    /// Schema versions that the next write sends to the log.
    var schemas: [SchemaNote] = []
    /// Whether the write must be on the disk before it returns.
    var isFlushed = false
    /// The error of an operation that had changed rows: the write can't be committed.
    var failure: (any Error)?
  }

  /// Valid until the closure of this flush returns; replaced while a nested transaction runs.
  @exclusivity(unchecked) private(set) var transaction: UnsafeMutablePointer<WriteTransaction>
  let core: StoreCore
  /// Owned by this object; a pointer avoids exclusivity checks at run time.
  private let storage: UnsafeMutablePointer<State>
  // Only the writing thread uses these two, and calls nothing during an access.
  /// The identifiers that the operation under way has inserted, to remove them if it fails.
  @exclusivity(unchecked) private var insertedIdentifiers: [String] = []
  /// The records whose trees the operation under way may have made deeper.
  @exclusivity(unchecked) var grown: [GrownRecord] = []
  /// The ends for appending nodes and edges; other changes of their tables leave them first.
  @exclusivity(unchecked) private var nodesEnd: TableEnd
  @exclusivity(unchecked) private var parentsEnd: TableEnd
  /// The counters at the begin of the flush.
  let countersAtStart: StoreState?

  /// The state of the flush.
  ///
  /// No call runs during an access to a part of it.
  var state: State {
    // Addresses instead of a coroutine: without optimization, the compiler (Swift 6.3) destroys a
    // part of a large yielded value after it has freed the coroutine's memory.
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

  /// A reader of the present state, valid until the next change.
  ///
  /// The caller ensures that; ``reading(_:)`` and the borrow in ``ModelTransaction/snapshot`` do.
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

  /// Leaves the end of a table before another kind of change.
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

  /// Inserts a row, unless one exists.
  ///
  /// - Parameters:
  ///   - value: Its value.
  ///   - key: Its key.
  ///   - table: A table.
  ///   - body: Reads the existing value, which stays.
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

  /// Runs an operation on other tables than those of nodes and edges, such as those of ordered
  /// lists.
  func withTransaction<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) rethrows -> Result {
    noteChange()
    return try unsafe body(&transaction.pointee)
  }

  /// Runs one operation of a write.
  ///
  /// If it throws after it has changed rows, these may be inconsistent. A closure may catch the
  /// error and continue, but then the whole write fails with it.
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
  /// - Returns: The error for its caller.
  @inline(never)
  private func failed(_ error: any Error) -> any Error {
    let error = (error as? CountedListError).map { StoreError($0, "a collection") } ?? error
    if !state.isHalfDone { removeInsertedIdentifiers() }
    if state.isHalfDone, state.failure == nil { state.failure = error }
    return error
  }

  /// Removes the new identifiers of a refused tree, which then has no effect.
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

  /// Removes the new identifiers of nodes that were not stored.
  func removeUnusedIdentifiers() throws {
    for identifier in unsafe insertedIdentifiers {
      guard let node = try reading({ try $0.node(identifier) }),
        try !reading({ try $0.contains(node: node) })
      else { continue }
      let key = IdentifierKey(identifier)
      try unsafe transaction.pointee.delete(key: key.bytes.span, in: tables.identifiers)
    }
  }

  /// The number of an identifier; assigned now if it has none.
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
    var value = [UInt8](littleEndian: node)
    value.append(contentsOf: identifier.utf8)
    try unsafe transaction.pointee.put(
      value.span, forKey: key.bytes.span, in: tables.identifiers)
    unsafe insertedIdentifiers.append(identifier)
    return (node, true)
  }

  /// Reserves room for the row of a node that is probably the last one.
  ///
  /// The caller fills the room before any other call.
  func reserveNode(
    _ byteCount: Int, forKey key: Span<UInt8>
  ) throws -> UnsafeMutableRawBufferPointer {
    noteChange()
    return try unsafe transaction.pointee.reserve(byteCount, forKey: key, at: &nodesEnd)
  }

  /// Reserves room for the row of an edge that is probably the last one.
  ///
  /// The caller fills the room before any other call.
  func reserveEdge(
    _ byteCount: Int, forKey key: Span<UInt8>
  ) throws -> UnsafeMutableRawBufferPointer {
    noteChange()
    return try unsafe transaction.pointee.reserve(byteCount, forKey: key, at: &parentsEnd)
  }

  /// Runs a closure with a collector of its own.
  func collecting<Result>(_ body: (RecordCollector) throws -> Result) rethrows -> Result {
    let collector = ThreadSlot.collecting.take() ?? RecordCollector(self)
    collector.begin(self)
    defer {
      collector.forget()
      ThreadSlot.collecting.put(collector)
    }
    return try body(collector)
  }

  /// Runs a closure in a nested transaction: if it throws, its rows and changes are rolled back.
  func nested<Result>(_ body: () throws -> Result) throws -> Result {
    // Collected rows would be copied by the next change.
    do {
      try settleWords()
    } catch {
      state.isHalfDone = true
      if state.failure == nil { state.failure = error }
      throw error
    }
    let saved = state
    let outer = unsafe transaction
    leaveEnd(of: tables.nodes)
    leaveEnd(of: tables.parents)
    defer {
      unsafe transaction = outer
      // The cursors of the inner transaction have ended with it.
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
  /// - Parameter keepsContent: Whether followers need the models passed to it.
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
  /// - Returns: `nil` if the write has no visible change.
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

  /// Ends the flush: writes the changed counters.
  func endFlush() throws {
    try writeTypeBlocks()
    try settleTotals()
    try settleWords()
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
