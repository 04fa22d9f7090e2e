import CPandoLMDB
import PandoSystem

/// Checks that the open data file still lies at its path with the committed contents.
///
/// ```
/// stat(path)          other file, or none     the folder was moved, removed or replaced
/// lock file: last n ≠ meta page: newest m     the file was written over
/// meta pages n and m, m ≠ n - 1               the file was written over while a commit was under way
/// meta page n       ≠ as this process left it the file was written over by one of as many commits
/// ```
/// The path is that of the folder when it was opened: `chdir` and a changed link are no move. The
/// writer lock guards all variable properties.
@safe
final class DataFilePlace: Sendable {
  /// How long a check of the path stays valid where commits do not wait for the disk.
  private static let intervalInNanoseconds: UInt64 = 1_000_000

  /// The folder, without symbolic links.
  let folder: String
  private let path: String
  /// Whether the file has a name; a file in memory has none, and can't move.
  private let hasName: Bool
  private let identity: OpenFiles.Identity
  /// Whether each write checks the path.
  private let isLookedAtEachTime: Bool

  /// The time of the last check of the path, on the coarse clock.
  nonisolated(unsafe) private var lastLook: UInt64 = 0
  /// Whether the write under way has checked the path.
  nonisolated(unsafe) private var hasLooked = false
  /// The number of the last commit of this process, and a checksum of its meta page.
  nonisolated(unsafe) private var known: (number: UInt64, sum: UInt64)?

  /// - Parameters:
  ///   - folder: The folder, which exists.
  ///   - file: The data file.
  ///   - durability: The durability of commits.
  init(_ folder: String, _ file: borrowing DataFile, _ durability: Durability) {
    self.folder = Self.withoutLinks(folder)
    path = "\(self.folder)/\(DataFile.name)"
    hasName = true
    identity = file.identity
    isLookedAtEachTime =
      switch durability {
      case .full, .consistent: true
      case .relaxed, .unsynchronized: false
      }
  }

  /// - Parameter file: A data file without a name.
  init(inMemory file: borrowing DataFile) {
    folder = DataFile.memoryName
    path = DataFile.memoryName
    hasName = false
    identity = file.identity
    isLookedAtEachTime = false
  }

  private static func withoutLinks(_ folder: String) -> String {
    guard let resolved = unsafe realpath(folder, nil) else { return folder }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Throws unless the file at the path is the open one.
  ///
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  func check() throws(LMDBError) {
    guard hasName else { return }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      // A process without permission to look can't detect a move.
      guard [ENOENT, ENOTDIR, ELOOP].contains(errno) else { return }
      throw moved("\(path) is not there any more")
    }
    guard UInt64(status.st_dev) == identity.device, UInt64(status.st_ino) == identity.inode else {
      throw moved("\(path) is another file than the one that is open")
    }
    guard status.st_size >= Int(PageFormat.metaPageCount) * PageFormat.pageSizes.lowerBound else {
      throw moved("\(path) was cut off to \(status.st_size) bytes")
    }
  }

  private func moved(_ detail: String) -> LMDBError {
    LMDBError(.fileMoved, function: "write", detail: detail)
  }
}

/// The checks of a write; the writer lock is held.
extension DataFilePlace {
  /// Checks the path before a write, if a check is due.
  ///
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  /// - Complexity: O(1). One system call where commits wait for the disk, else one per millisecond.
  func willWrite() throws(LMDBError) {
    guard hasName else { return }
    let now = coarseNanoseconds()
    unsafe hasLooked = isLookedAtEachTime || now - lastLook >= Self.intervalInNanoseconds
    guard unsafe hasLooked else { return }
    // A failed check counts as none: the next write checks again.
    try check()
    unsafe lastLook = now
  }

  /// Checks again if the write has waited for other writes.
  ///
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  func didBegin() throws(LMDBError) {
    let now = coarseNanoseconds()
    guard unsafe now - lastLook >= Self.intervalInNanoseconds, isLookedAtEachTime else { return }
    try check()
    unsafe lastLook = now
  }

  /// Refuses a file whose meta pages are not those of the last commit.
  ///
  /// Every committer holds the writer lock, under which the number of the last commit and the
  /// newest meta page agree. If a process dies with that lock, liblmdb repairs them first.
  ///
  /// - Parameters:
  ///   - transaction: A write transaction that has just begun.
  ///   - file: The data file.
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  /// - Complexity: O(1). One system call if this write has checked the path.
  func checkContents(
    _ transaction: borrowing WriteTransaction, _ file: borrowing DataFile
  ) throws(LMDBError) {
    let number = unsafe UInt64(mdb_txn_id(transaction.handle.transaction)) - 1
    let environment = unsafe mdb_txn_env(transaction.handle.transaction)
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    let newest = UInt64(unsafe info.me_last_txnid)
    if newest == number, unsafe !hasLooked { return }
    guard let meta = unsafe meta(number, file, environment), meta.number == number else {
      throw writtenOver("its newest version is \(newest), and the last commit was \(number)")
    }
    // Commits alternate between the meta pages; one under way may have left its own.
    if number > 0, let former = unsafe formerNumber(number, file, environment),
      former != number - 1
    {
      throw writtenOver("its meta pages are of the versions \(number) and \(former)")
    }
    // The newest version's pages do not change; an older one's may be overwritten already.
    if let last = unsafe known, last.number == number, last.sum != meta.sum {
      throw writtenOver("it has another version \(number) than was committed")
    }
  }

  /// Keeps the checksum of a commit that changed something.
  func didCommit(
    _ number: UInt64, _ file: borrowing DataFile, _ environment: OpaquePointer?
  ) {
    guard unsafe hasLooked, let meta = unsafe meta(number, file, environment),
      meta.number == number
    else { return }
    unsafe known = meta
  }

  private func writtenOver(_ detail: String) -> LMDBError {
    moved("\(path) was written over while it was open: \(detail)")
  }

  /// Reads the meta page that this transaction number writes: its number, and a checksum of it and
  /// the main table's root page.
  private func meta(
    _ number: UInt64, _ file: borrowing DataFile, _ environment: OpaquePointer?
  ) -> (number: UInt64, sum: UInt64)? {
    var pages = MDB_stat()
    guard unsafe mdb_env_stat(environment, &pages) == 0 else { return nil }
    let (pageSize, wordSize) = (Int(pages.ms_psize), MemoryLayout<UInt64>.size)
    let wordCount = PageFormat.metaByteCount / wordSize
    return unsafe withUnsafeTemporaryAllocation(
      of: UInt64.self, capacity: PageFormat.pageSizes.upperBound / wordSize
    ) { words in
      var sum: UInt64 = 0xcbf2_9ce4_8422_2325
      func add(_ count: Int, at offset: Int) -> Bool {
        let read = retryInterrupted {
          unsafe pread(file.descriptor, words.baseAddress, count, off_t(offset))
        }
        guard read == count else { return false }
        for index in 0..<count / wordSize {
          sum = unsafe (sum ^ words[index]) &* 0x100_0000_01b3
        }
        return true
      }
      guard pageSize <= PageFormat.pageSizes.upperBound,
        add(PageFormat.metaByteCount, at: Int(number & 1) * pageSize)
      else { return nil }
      let found = unsafe words[wordCount - 1]
      let root = unsafe words[Self.mainRootOffset / wordSize]
      // A file that is not LMDB's may contain any number.
      if root <= UInt64(Int.max / pageSize) { _ = add(pageSize, at: Int(root) * pageSize) }
      return (found, sum)
    }
  }

  /// The number in the meta page that this transaction number does not write.
  private func formerNumber(
    _ number: UInt64, _ file: borrowing DataFile, _ environment: OpaquePointer?
  ) -> UInt64? {
    var pages = MDB_stat()
    guard unsafe mdb_env_stat(environment, &pages) == 0 else { return nil }
    let offset =
      Int((number & 1) ^ 1) * Int(pages.ms_psize) + PageFormat.metaByteCount
      - MemoryLayout<UInt64>.size
    var found: UInt64 = 0
    let count = retryInterrupted {
      unsafe pread(file.descriptor, &found, MemoryLayout<UInt64>.size, off_t(offset))
    }
    return count == MemoryLayout<UInt64>.size ? found : nil
  }

  /// The offset of the main table's root in a meta page; see ``MetaRecord``.
  private static let mainRootOffset = 128
}
