import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// How many threads of this process wait to read, for a slot or for growth of the map.
  public var waitingReadCount: Int {
    slotWaits.load(ordering: .relaxed) + readers.state.withLock { $0.waiting.count }
  }
}

extension Environment {
  /// Sizes and readers at this moment.
  ///
  /// - Returns: The figures.
  /// - Throws: ``LMDBError`` with code `closed` after ``close()``.
  /// - Complexity: O(*r*) for *r* reader slots.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    try checkProcess("statistics")
    let oldestStart = readers.oldestStartInNanoseconds()
    let ticket = try readers.enter()
    defer { readers.leave(ticket) }
    let environment = try unsafe openPointer("mdb_env_info")
    var info = unsafe MDB_envinfo()
    var pages = MDB_stat()
    try check(unsafe mdb_env_info(environment, &info), "mdb_env_info")
    try check(unsafe mdb_env_stat(environment, &pages), "mdb_env_stat")
    let open = try unsafe ReaderList(environment)
    return EnvironmentStatistics(
      mapSizeInBytes: unsafe info.me_mapsize,
      usedSizeInBytes: unsafe (info.me_last_pgno + 1) * Int(pages.ms_psize),
      fileSizeInBytes: try file.sizeInBytes(),
      pageSizeInBytes: Int(pages.ms_psize),
      lastTransactionID: UInt64(unsafe info.me_last_txnid),
      readersMax: Int(unsafe info.me_maxreaders),
      readersInUse: open.readers.count,
      oldestReaderTransactionID: open.readers.map(\.transactionID).min(),
      oldestReaderAgeInSeconds: oldestStart.map { start in
        Double(coarseNanoseconds() - start) / 1e9
      },
      writerProcessID: writerProcess)
  }

  /// The process that has the writer lock.
  private var writerProcess: Int? {
    // A number from another namespace may be that of another thread here.
    if unsafe namespaces?.hasSeenSeveral == true { return nil }
    return unsafe signal?.writer.flatMap { process(ofThread: $0) }
  }
}

extension Environment {
  /// Lists the open read transactions of all processes.
  ///
  /// The pages of the version that one reads are not reused before it ends.
  ///
  /// - Returns: The process of each, by its number in its own PID namespace, and the number of the
  ///   commit that it reads; in no order.
  /// - Throws: ``LMDBError`` with code `closed` after ``close()``.
  /// - Complexity: O(*r*) for *r* reader slots.
  /// - Note: LMDB: `mdb_reader_list`.
  public func openReaders() throws(LMDBError) -> [(processID: Int, transactionID: UInt64)] {
    try checkProcess("openReaders")
    let ticket = try readers.enter()
    defer { readers.leave(ticket) }
    let environment = try unsafe openPointer("mdb_reader_list")
    return try unsafe ReaderList(environment).readers
  }
}

extension Snapshot {
  /// Sizes of a table in this version.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: The figures.
  /// - Throws: ``LMDBError`` with code `badTable` if the table was opened after this snapshot.
  /// - Complexity: O(1).
  public func statistics(of table: RawTable) throws(LMDBError) -> TableStatistics {
    let pages = try handle.statistics(of: table)
    let pageCount = pages.ms_branch_pages + pages.ms_leaf_pages + pages.ms_overflow_pages
    return TableStatistics(
      count: pages.ms_entries, depth: Int(pages.ms_depth),
      branchPageCount: pages.ms_branch_pages, leafPageCount: pages.ms_leaf_pages,
      overflowPageCount: pages.ms_overflow_pages, sizeInBytes: pageCount * Int(pages.ms_psize))
  }
}

extension Snapshot {
  /// The bytes of this version's pages that no table uses.
  ///
  /// A commit reuses such a page as soon as no reader sees an older version that uses it.
  ///
  /// - Throws: ``LMDBError`` if the free list can't be read.
  /// - Complexity: O(*c*) for *c* commits whose freed pages have not all been used again.
  public func freeSizeInBytes() throws(LMDBError) -> Int {
    var pages = MDB_stat()
    // The free list is table 0.
    try check(unsafe mdb_stat(handle.transaction, 0, &pages), "mdb_stat")
    return try freePageCount(from: 0) * Int(pages.ms_psize)
  }

  /// The number of pages that commits from a given one on have freed.
  func freePageCount(from first: UInt64) throws(LMDBError) -> Int {
    var cursor: OpaquePointer?
    // liblmdb gives the free list to readers only.
    try check(unsafe mdb_cursor_open(handle.transaction, 0, &cursor), "mdb_cursor_open")
    defer { unsafe mdb_cursor_close(cursor) }
    var (key, value) = unsafe (MDB_val(), MDB_val())
    var count = 0
    // One entry per commit, with the pages that it freed; the first word is their number.
    while unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
      guard let number = unsafe key.mv_data?.loadUnaligned(as: UInt64.self), number >= first,
        let list = unsafe value.mv_data
      else { continue }
      count += unsafe list.loadUnaligned(as: Int.self)
    }
    return count
  }
}

extension Environment {
  /// The version of the oldest reader of all processes; `nil` if no transaction reads.
  func oldestReader(_ environment: OpaquePointer) throws(LMDBError) -> UInt64? {
    try unsafe ReaderList(environment).readers.map(\.transactionID).min()
  }

  /// The processes with the most reader slots, in words; needs no slot itself.
  func slotOwners() throws(LMDBError) -> String {
    let ticket = try readers.enter()
    defer { readers.leave(ticket) }
    let counts = try unsafe ReaderList(openPointer("mdb_reader_list")).slotCounts
    let owners = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let named = owners.prefix(3).map { "process \($0.key) has \($0.value)" }
    let others = owners.dropFirst(named.count).reduce(0) { $0 + $1.value }
    return (named + (others > 0 ? ["others have \(others)"] : [])).joined(separator: ", ")
  }
}

/// The open read transactions of all processes.
///
/// LMDB lists them as lines of text: process, thread, and transaction number or a dash.
private struct ReaderList {
  private(set) var readers: [(processID: Int, transactionID: UInt64)] = []
  /// The number of slots of each process; one slot may have no transaction now.
  private(set) var slotCounts: [Int: Int] = [:]

  init(_ environment: OpaquePointer) throws(LMDBError) {
    var text = ""
    let status = unsafe withUnsafeMutablePointer(to: &text) { text in
      unsafe mdb_reader_list(
        environment,
        { line, context in
          guard let line = unsafe line, let context = unsafe context else { return -1 }
          unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
          return 0
        }, text)
    }
    guard status >= 0 else {
      throw LMDBError(LMDBError.Code(rawValue: status), function: "mdb_reader_list")
    }
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { continue }
      slotCounts[process, default: 0] += 1
      if let number = UInt64(words[2]) { readers.append((process, number)) }
    }
  }
}

/// Sizes and readers of an environment at one moment.
///
/// ```swift
/// let statistics = try environment.statistics()
/// print(statistics.usedSizeInBytes, "bytes of", statistics.fileSizeInBytes, "are in use")
/// print(statistics.readersInUse, "of", statistics.readersMax, "readers are reading")
/// ```
public struct EnvironmentStatistics: Sendable, Hashable {
  /// The mapped address space in bytes; the file can grow up to it without a new map.
  public let mapSizeInBytes: Int
  /// The bytes up to the last page ever used, including free pages.
  public let usedSizeInBytes: Int
  /// The length of the data file in bytes.
  public let fileSizeInBytes: Int
  /// The size of a page in bytes.
  public let pageSizeInBytes: Int
  /// The number of the last commit.
  public let lastTransactionID: UInt64
  /// The most read transactions that can be open in all processes together.
  public let readersMax: Int
  /// How many read transactions are open in all processes, including stale ones.
  public let readersInUse: Int
  /// The version of the oldest open read transaction of all processes.
  ///
  /// Pages freed since then can't be reused. `nil` if no transaction is open.
  public let oldestReaderTransactionID: UInt64?
  /// The age of the oldest open read transaction of this process, in seconds.
  ///
  /// Exact to a few milliseconds. `nil` if no transaction is open.
  public let oldestReaderAgeInSeconds: Double?
  /// The process that writes now: it has the writer lock.
  ///
  /// `nil` if no process writes, and if processes of several PID namespaces have the environment open.
  public let writerProcessID: Int?
}
