import PandoSystem

extension DataFile {
  /// How often an invalid file is read, while another process may be creating it.
  private static let attemptCount = 10

  /// Checks sizes and meta pages before liblmdb maps the file.
  ///
  /// An empty file is a new one. Another process may be creating the file, so an invalid file is
  /// read again. A file from an interrupted creation is created anew.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - isReadOnly: Whether a new file is an error.
  ///   - mode: The permissions of new files.
  /// - Returns: The map size in the file, in bytes; 0 for a new file.
  /// - Throws: ``LMDBError`` with code `invalidFile`, `versionMismatch` or `truncatedFile`.
  func checkHeader(folder: String, isReadOnly: Bool, mode: UInt32) throws(LMDBError) -> Int {
    for _ in 1..<Self.attemptCount {
      if let size = try? checkHeaderOnce(folder: folder, isReadOnly: isReadOnly) { return size }
      usleep(1000)
    }
    if !isReadOnly, Self.isUnfinished(folder: folder) {
      _ = discardUnfinished(folder: folder, mode: mode)
    }
    return try checkHeaderOnce(folder: folder, isReadOnly: isReadOnly)
  }

  private func checkHeaderOnce(folder: String, isReadOnly: Bool) throws(LMDBError) -> Int {
    let size = try sizeInBytes()
    if size == 0, !isReadOnly { return 0 }
    do {
      let file = try PageFile(environment: folder)
      guard let metas = MetaPair.read(from: file) else {
        // It changes all the time, so another process has it open, and the file is sound.
        return 0
      }
      if let problem = metas.problem { throw LMDBError(problem, metas.pages, path: file.path) }
      try Self.checkVersion(metas.live, in: file)
      return Int(metas.live.mapSizeInBytes)
    } catch let error as LMDBError {
      throw error
    } catch {
      throw LMDBError(.invalidFile, function: "open", detail: "\(folder): \(error)")
    }
  }

  /// Checks that the file has the pages of its newest meta page.
  ///
  /// Pages allocated and freed within one transaction count as used but are never written, so an
  /// intact file may end before its last page. Then every page beyond the end must be in the free
  /// list; otherwise the file was truncated.
  private static func checkVersion(_ meta: MetaRecord, in file: PageFile) throws {
    let size = file.sizeInBytes
    if let problem = meta.versionProblem(fileSizeInBytes: size) {
      throw LMDBError(problem, [meta], path: file.path)
    }
    let pageCount = size / UInt64(meta.pageSizeInBytes)
    guard pageCount <= meta.lastPage else { return }
    let walk = PageWalk(
      file, meta: meta, fileSizeInBytes: size, problemLimit: 1, isProtected: false)
    var freeList = walk.freeListTree
    do {
      try walk.walk(&freeList)
    } catch PageWalk.Stop.changed {
      return
    } catch PageWalk.Stop.problemLimit {
      // Distinguished below.
    }
    let isWhole = walk.problems.isEmpty
    guard isWhole, (pageCount...meta.lastPage).allSatisfy({ walk.free.contains($0) }) else {
      throw LMDBError(
        .truncatedFile, function: "open",
        detail: "\(file.path) has \(size) bytes, pages up to \(meta.lastPage) are in use")
    }
  }
}

extension LMDBError {
  /// The error of a file whose meta pages are wrong.
  fileprivate init(_ problem: PageProblem, _ pages: [MetaRecord], path: String) {
    let isOtherVersion = pages.contains {
      $0.magic == PageFormat.magic && $0.version != PageFormat.version
    }
    let code: Code =
      problem.kind == .fileSize ? .truncatedFile : isOtherVersion ? .versionMismatch : .invalidFile
    self.init(code, function: "open", detail: "\(path): \(problem)")
  }
}

/// Files whose creation was interrupted, by a full disk or a power failure.
///
/// liblmdb writes both meta pages of a new file with one call, before anything else. If only a part
/// reaches the file, liblmdb refuses it from then on, although it can contain no data.
extension DataFile {
  /// The unit of disk writes; a file of another size was truncated by other means.
  private static let sectorSize: UInt64 = 512

  /// Whether a file is the result of an interrupted creation: at most two meta pages, each absent,
  /// empty, truncated or initial, and no commit.
  ///
  /// - Parameter folder: The folder of the environment.
  /// - Returns: Whether it can contain no data.
  static func isUnfinished(folder: String) -> Bool {
    guard let file = try? PageFile(environment: folder) else { return false }
    let pageSize = UInt64(1.roundedUpToPage)
    let size = file.sizeInBytes
    guard size <= PageFormat.metaPageCount * pageSize, size % sectorSize == 0 else { return false }
    return (0..<PageFormat.metaPageCount).allSatisfy { index in
      // Bytes beyond the end stay zero.
      let buffer = PageBuffer(byteCount: PageFormat.metaByteCount)
      if case .failed = file.read(PageFormat.metaByteCount, at: index * pageSize, into: buffer) {
        return false
      }
      let page = MetaRecord(index: Int(index), Page(buffer.bytes))
      return [0, index].contains(page.headerPageNumber)
        && [0, PageFormat.Flags.meta].contains(page.headerFlags)
        && [0, PageFormat.magic].contains(page.magic)
        && [0, PageFormat.version].contains(page.version) && page.transactionID == 0
    }
  }

  /// Truncates an unfinished file, unless another process has it open and may be creating it.
  ///
  /// A process with an open environment holds a lock on the first byte of its lock file.
  /// ``OpenFiles`` ensures that this process has none: closing the file here would drop its locks.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - mode: The permissions of a new lock file.
  /// - Returns: Whether the file is empty now.
  func discardUnfinished(folder: String, mode: UInt32) -> Bool {
    let lockFile = openBesideData(LockFile.name, in: folder, mode: mode)
    guard lockFile >= 0 else { return false }
    defer { PandoSystem.close(lockFile) }
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_len = 1
    guard retryInterrupted({ unsafe fcntl(lockFile, F_SETLK, &range) }) == 0,
      Self.isUnfinished(folder: folder)
    else { return false }
    return retryInterrupted { ftruncate(descriptor, 0) } == 0
  }
}
