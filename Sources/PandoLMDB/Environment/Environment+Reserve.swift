import CPandoLMDB
import PandoSystem
import Synchronization

/// Room for writes that free space. A full store could not be emptied without it, because a removal
/// writes new pages before it frees old ones.
///
/// ```
///                 maximumMapSizeInBytes           mapReserveInBytes
/// the map  ├──────────────────────────────────┤├────────┬─────────┤
///           what may be in use                   garbage   writes that free space
///
/// the file ├──────────────────────┤├──────────┤
///           pages                   blocks behind its end, which the disk has given already
/// ```
extension Environment {
  private static let pageSizeInBytes = 4096
  /// The smallest and largest reserve on the disk behind the end of the file.
  private static let diskReserveInBytes = 256 << 10...64 << 20

  /// How far the map may exceed its configured maximum.
  ///
  /// Removing all of *n* pages lists them in about *n* / 512 others. The rest serves many small
  /// removals while a long read keeps their freed pages.
  static func mapReserveInBytes(_ configuration: Configuration) -> Int {
    max(64 << 20, configuration.maximumMapSizeInBytes / 16).roundedUpToPage
  }

  /// The largest size of the map.
  static func mapLimitInBytes(_ configuration: Configuration) -> Int {
    configuration.maximumMapSizeInBytes.roundedUpToPage + mapReserveInBytes(configuration)
  }

  /// Refuses a commit that adds data and leaves too little room for writes that free space; for one
  /// that frees space, notes the missing room.
  ///
  /// The writer lock is held.
  ///
  /// - Throws: ``LMDBError`` with code `mapFull` or `diskFull`.
  package func checkReserve(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    missingPageCount.store(-1, ordering: .relaxed)
    let end = Int(unsafe pando_next_page(transaction.handle.transaction)) * Self.pageSizeInBytes
    if !transaction.frees, end > configuration.maximumMapSizeInBytes.roundedUpToPage {
      try checkMap(transaction, end)
    }
    try keepDiskReserve(transaction, behind: end)
  }

  private func checkMap(
    _ transaction: borrowing WriteTransaction, _ end: Int
  ) throws(LMDBError) {
    let maximum = configuration.maximumMapSizeInBytes
    let excess =
      try pageCountInUse(transaction) * Self.pageSizeInBytes - maximum.roundedUpToPage
    if excess > 0 {
      missingPageCount.store(excess / Self.pageSizeInBytes, ordering: .relaxed)
      throw LMDBError(.mapFull, function: "mdb_txn_commit")
    }
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_info(openPointer("mdb_env_info"), &info), "mdb_env_info")
    let grows = unsafe end > (info.me_last_pgno + 1) * Self.pageSizeInBytes
    guard grows, end > maximum + Self.mapReserveInBytes(configuration) / 2 else { return }
    throw LMDBError(
      .mapFull, function: "mdb_txn_commit",
      detail: "it may not grow above \(maximum) bytes, and a long read keeps the freed pages"
    )
  }

  /// The number of pages in all tables.
  private func pageCountInUse(_ transaction: borrowing WriteTransaction) throws(LMDBError) -> Int {
    var count = Int(PageFormat.metaPageCount)
    var counted: Set<[UInt8]> = []
    // The free list, the table of tables, and the tables that this process has opened.
    let opened: [(name: String?, number: MDB_dbi)] = [(nil, 0), (nil, PageSearch.mainTable)]
    for (name, number) in opened + tables.withLock({ $0.opened.filter { $0.name != nil } }) {
      var pages = MDB_stat()
      let status = unsafe mdb_stat(transaction.handle.transaction, number, &pages)
      // The table was opened after the transaction began.
      if status == MDB_BAD_DBI || status == EINVAL { continue }
      try check(status, "mdb_stat")
      count += pages.ms_branch_pages + pages.ms_leaf_pages + pages.ms_overflow_pages
      if let name { counted.insert(Array(name.utf8)) }
    }
    return try count + pageCount(transaction, ofTablesExcept: counted)
  }

  /// The number of pages in tables that only other processes have opened, from their records.
  private func pageCount(
    _ transaction: borrowing WriteTransaction, ofTablesExcept counted: Set<[UInt8]>
  ) throws(LMDBError) -> Int {
    var cursor: OpaquePointer?
    try check(
      unsafe mdb_cursor_open(transaction.handle.transaction, PageSearch.mainTable, &cursor),
      "mdb_cursor_open")
    defer { unsafe mdb_cursor_close(cursor) }
    var (name, value) = unsafe (MDB_val(), MDB_val())
    var count = 0
    while unsafe mdb_cursor_get(cursor, &name, &value, MDB_NEXT) == 0 {
      let bytes = unsafe UnsafeRawBufferPointer(start: name.mv_data, count: name.mv_size)
      guard unsafe value.mv_size == PageFormat.treeRecordByteCount,
        unsafe !counted.contains(Array(bytes)),
        let address = unsafe value.mv_data
      else { continue }
      let record = unsafe TreeRecord(
        Page(at: address, byteCount: PageFormat.treeRecordByteCount).bytes, at: 0)
      count += Int(record.branchPages + record.leafPages + record.overflowPages)
    }
    return count
  }

  /// The number of free pages that a reader's version still keeps.
  private func pageCountOfReaders() throws(LMDBError) -> Int {
    let oldest = try unsafe oldestReader(openPointer("mdb_reader_list"))
    do {
      // liblmdb gives the free list to readers only.
      return try read { snapshot in
        try snapshot.freePageCount(from: oldest ?? snapshot.transactionID)
      }
    } catch {
      throw error as? LMDBError ?? LMDBError(.invalidArgument, function: "mdb_cursor_get")
    }
  }

  /// Allocates disk blocks for the growth of the file and for the reserve behind it.
  ///
  /// Free pages of the file that no reader needs also count as reserve: a file never becomes
  /// shorter. A file system without `fallocate` has no reserve.
  private func keepDiskReserve(
    _ transaction: borrowing WriteTransaction, behind end: Int
  ) throws(LMDBError) {
    let reserve = min(
      max(end / 16, Self.diskReserveInBytes.lowerBound), Self.diskReserveInBytes.upperBound)
    guard unsafe end + reserve > diskRoomEnd else { return }
    // Twice the reserve, so that not every commit calls the system.
    var status = file.reserve(upTo: end + 2 * reserve)
    if status == nil {
      unsafe diskRoomEnd = end + 2 * reserve
      return
    }
    status = file.reserve(upTo: end + reserve)
    switch status {
    case nil: unsafe diskRoomEnd = end + reserve
    case ENOSPC?, EDQUOT?:
      let kept = try pageCountInUse(transaction) + pageCountOfReaders()
      let missing = reserve - (end - kept * Self.pageSizeInBytes)
      if missing <= 0 { return }
      missingPageCount.store(missing / Self.pageSizeInBytes + 1, ordering: .relaxed)
      if transaction.frees { return }
      throw LMDBError(
        LMDBError.Code(rawValue: status ?? ENOSPC), function: "fallocate",
        detail: "\(reserve) bytes of the disk are kept for writes that free space")
    case EOPNOTSUPP?, ENOSYS?, ENODEV?, EINVAL?, ESPIPE?: unsafe diskRoomEnd = .max
    default: break
    }
  }
}
