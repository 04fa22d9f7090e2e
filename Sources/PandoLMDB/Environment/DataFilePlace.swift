import CPandoLMDB
import PandoSystem

/// Tells whether the data file that is open still lies at its path, with the contents that were committed to it.
///
/// ```
/// stat(path)          other file, or none     the folder was moved, removed or replaced
/// lock file: last n ≠ meta page: newest m     the file was written over
/// meta pages n and m, m ≠ n - 1               the file was written over while a commit was under way
/// meta page n       ≠ as this process left it the file was written over by one of as many commits
/// ```
/// The path is that of the folder when it was opened: `chdir` and a changed link are no move. All stored
/// properties are used while the writer lock is held, but for those that never change.
@safe
final class DataFilePlace: Sendable {
  /// After how many nanoseconds the path is looked at again where commits do not wait for the disk.
  private static let intervalInNanoseconds: UInt64 = 1_000_000

  /// The folder, without links.
  let folder: String
  private let path: String
  private let identity: OpenFiles.Identity
  /// Whether each write looks at the path.
  private let isLookedAtEachTime: Bool

  /// When the path was looked at last, on the coarse clock.
  nonisolated(unsafe) private var lastLook: UInt64 = 0
  /// Whether the write under way has looked.
  nonisolated(unsafe) private var hasLooked = false
  /// The number of a transaction, and a sum of the meta page that it has left.
  nonisolated(unsafe) private var known: (number: UInt64, sum: UInt64)?

  /// - Parameters:
  ///   - folder: The folder, which is there.
  ///   - file: The data file.
  ///   - durability: What commits wait for.
  init(_ folder: String, _ file: borrowing DataFile, _ durability: Durability) {
    self.folder = Self.withoutLinks(folder)
    path = "\(self.folder)/\(DataFile.name)"
    identity = file.identity
    isLookedAtEachTime =
      switch durability {
      case .full, .consistent: true
      case .relaxed, .unsynchronized: false
      }
  }

  private static func withoutLinks(_ folder: String) -> String {
    guard let resolved = unsafe realpath(folder, nil) else { return folder }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Refuses what lies at the path, unless it is the file that is open.
  ///
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  func check() throws(LMDBError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      // Whoever may not look any more knows nothing of a move.
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

/// What a write asks; the writer lock is held.
extension DataFilePlace {
  /// Looks at the path before a write, if it is time to.
  ///
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  /// - Complexity: O(1); a system call where commits wait for the disk, else one in a millisecond.
  func willWrite() throws(LMDBError) {
    let now = coarseNanoseconds()
    unsafe hasLooked = isLookedAtEachTime || now - lastLook >= Self.intervalInNanoseconds
    guard unsafe hasLooked else { return }
    // One that fails counts as none: the next write looks again.
    try check()
    unsafe lastLook = now
  }

  /// Looks again if the write has waited for others.
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
  /// All who commit hold the lock of the writer, under which the number of the last commit and the newest meta
  /// page agree. A process that has died with that lock leaves them to liblmdb, which repairs them first.
  ///
  /// - Parameters:
  ///   - transaction: A write transaction that has just begun.
  ///   - file: The data file.
  /// - Throws: ``LMDBError`` with code `fileMoved`.
  /// - Complexity: O(1); a system call where the path was looked at.
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
    // Commits take turns with the meta pages. One that was under way when the file was written over has left its own.
    if number > 0, let former = unsafe formerNumber(number, file, environment),
      former != number - 1
    {
      throw writtenOver("its meta pages are of the versions \(number) and \(former)")
    }
    // The pages of the newest version stay as they are; a former one may be written to already.
    if let last = unsafe known, last.number == number, last.sum != meta.sum {
      throw writtenOver("it has another version \(number) than was committed")
    }
  }

  /// Remembers what a commit has left, if it has changed anything.
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

  /// The number in the meta page that a transaction of this number writes, and a sum of that page and of the page
  /// with the records of the tables.
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
      // A file that is none of LMDB's may say anything.
      if root <= UInt64(Int.max / pageSize) { _ = add(pageSize, at: Int(root) * pageSize) }
      return (found, sum)
    }
  }

  /// The number in the other meta page than the one that a transaction of this number writes.
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

  /// Where a meta page has the root of the main table: see ``MetaRecord``.
  private static let mainRootOffset = 128
}
