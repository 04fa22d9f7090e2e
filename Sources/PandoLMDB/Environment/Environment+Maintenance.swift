import CPandoLMDB
import PandoSystem

extension Environment {
  /// Frees the slots of dead readers.
  ///
  /// Such a slot keeps the file from reusing the pages of its version. Pando also does this at each
  /// open, when the slots run out, and about once a second while it writes.
  ///
  /// - Returns: The number of freed slots.
  /// - Note: LMDB: `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() -> Int {
    guard (try? checkProcess("clearStaleReaders")) != nil, let ticket = try? readers.enter() else {
      return 0
    }
    defer { readers.leave(ticket) }
    guard let environment = unsafe pointer else { return 0 }
    return unsafe clearStaleReaders(in: environment)
  }

  /// Frees stale slots about once a second; the writer lock is held.
  ///
  /// While a dead reader's slot exists, no page freed since is reused, and every commit makes the
  /// file larger.
  func clearStaleReadersNowAndThen() {
    let now = ContinuousClock.now
    guard unsafe now - staleReaderCheck >= .seconds(1), let environment = unsafe pointer else {
      return
    }
    unsafe staleReaderCheck = now
    _ = unsafe clearStaleReaders(in: environment)
  }

  /// Frees stale slots and reports them; the caller is a reader or holds the writer lock.
  func clearStaleReaders(in environment: OpaquePointer) -> Int {
    var count: CInt = 0
    unsafe namespaces?.enter(.readers)
    let status = unsafe mdb_reader_check(environment, &count)
    unsafe namespaces?.leave(.readers)
    guard status == 0, count > 0 else { return 0 }
    configuration.onEvent?(.staleReadersCleared(count: Int(count)))
    return Int(count)
  }

  /// Flushes the pages that earlier commits left in the system's cache.
  ///
  /// Needed only with a durability below `full`.
  ///
  /// - Throws: ``LMDBError`` with code `failedFlush`; later writes are refused.
  /// - Complexity: O(*p*) for *p* unflushed pages; with checkpoints, as ``flush()``.
  /// - Note: LMDB: `mdb_env_sync`.
  public func sync() throws(LMDBError) {
    try checkProcess("sync")
    if unsafe checkpoints != nil { return try flush() }
    let ticket = try readers.enter()
    defer { readers.leave(ticket) }
    let status = unsafe mdb_env_sync(try openPointer("mdb_env_sync"), 1)
    guard status != 0 else { return }
    let cause = LMDBError.Code(rawValue: status)
    guard cause != .readOnly else { throw LMDBError(cause, function: "mdb_env_sync") }
    let refusal = LMDBError(
      .failedFlush, function: "mdb_env_sync", detail: cause.explanation)
    writeRefusal.withLock { $0 = refusal }
    configuration.onEvent?(.writesRefused)
    throw refusal
  }
}

extension Environment {
  /// Copies the newest committed version into another folder, while readers and writers continue.
  ///
  /// The copy is flushed, and gets its name only when it is complete. Meanwhile it counts as a
  /// reader: pages freed meanwhile are not reused, and the map can't grow.
  ///
  /// - Parameters:
  ///   - path: A folder without a data file; created with mode 0700 if absent.
  ///   - compacting: Whether to omit free pages and write the pages in order; slower, smaller.
  /// - Throws: ``LMDBError`` with code `fileExists` if the folder has a data file or another copy
  ///   is under way there; `incompatibleTable` if a compact copy finds lost pages
  ///   (`Environment.problems(path:)` names them); else the system's error. A failed copy is removed, with
  ///   the folder if this call created it. Other files there stay.
  /// - Complexity: O(size of the file); O(pages in use) for a compact copy. A copy that is not
  ///   compact waits for the write under way.
  /// - Precondition: The calling thread is not inside a write of this environment.
  /// - Note: LMDB: `mdb_env_copyfd2`.
  public func copy(to path: String, compacting: Bool = false) throws(LMDBError) {
    do {
      _ = try copy(to: path, compacting: compacting, goesOn: { _ in true }) { _ in true }
    } catch let error as LMDBError {
      throw error
    } catch {
      preconditionFailure("only LMDBError is thrown")
    }
  }

  /// Copies like ``copy(to:compacting:)``; the caller can end the copy after each part.
  ///
  /// - Parameters:
  ///   - path: A folder without a data file.
  ///   - compacting: Whether to omit free pages.
  ///   - goesOn: Called with the number of bytes written, at least once per
  ///     ``CopyPipe/partByteCount``; returns `false` to end the copy.
  ///   - check: Checks the complete copy before it gets its name; returns `false` to discard it.
  /// - Returns: Whether the copy is complete; else, or after an error, it is removed.
  /// - Throws: ``LMDBError`` as ``copy(to:compacting:)``; the error of `check`.
  package func copy(
    to path: String, compacting: Bool, goesOn: (_ byteCount: Int) -> Bool,
    checking check: (PageWalker) throws -> Bool
  ) throws -> Bool {
    try checkProcess("copy")
    precondition(
      !isWritingOnThisThread,
      "copy inside a write of the same environment: it would wait for itself")
    let target = try CopyTarget(folder: path, mode: configuration.fileMode)
    defer { target.close() }
    do {
      guard try write(to: target.descriptor, compacting, goesOn, detail: target.path),
        try check(PageWalker(target.descriptor, path: target.path))
      else {
        target.remove()
        return false
      }
      try target.publish()
      return true
    } catch {
      target.remove()
      throw error
    }
  }

  /// Copies through a pipe.
  ///
  /// liblmdb first takes a reader slot. Unless the copy is compact, it holds the writer mutex until
  /// it has written the meta pages. Once more bytes have arrived, it has released both.
  private func copyInStep(
    to descriptor: CInt, _ compacting: Bool, _ goesOn: (Int) -> Bool,
    _ copy: @escaping @Sendable (CInt) -> CInt
  ) -> CopyPipe.Outcome {
    var sections: [NamespaceGuard.Section] = compacting ? [.readers] : [.writer, .readers]
    for section in sections { unsafe namespaces?.enter(section) }
    func leave() {
      for section in sections.reversed() { unsafe namespaces?.leave(section) }
      sections = []
    }
    defer { leave() }
    return CopyPipe.copy(
      to: descriptor,
      { count in
        if count > Int(PageFormat.metaPageCount) * PageFormat.pageSizes.upperBound { leave() }
        return goesOn(count)
      }, copy)
  }

  /// Writes the newest version to an open file, at its beginning.
  ///
  /// - Parameters:
  ///   - descriptor: The file, empty, for reading and writing.
  ///   - compacting: Whether to leave free pages out.
  ///   - goesOn: As for ``copy(to:compacting:goesOn:checking:)``.
  ///   - detail: The name of the file in errors.
  /// - Returns: `false` if `goesOn` ended it.
  /// - Throws: ``LMDBError``; then the file has a part of the copy.
  func write(
    to descriptor: CInt, _ compacting: Bool, _ goesOn: (Int) -> Bool, detail: String
  ) throws(LMDBError) -> Bool {
    let flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
    while true {
      let ticket = try readers.enter()
      let environment = unsafe pointer
      var outcome = CopyPipe.Outcome.copied(LMDBError.Code.closed.rawValue)
      if let environment = unsafe environment {
        // The copying thread works on behalf of this one, which waits for it.
        nonisolated(unsafe) let environment = unsafe environment
        let copy = { @Sendable (end: CInt) in unsafe mdb_env_copyfd2(environment, end, flags) }
        outcome = copyInStep(to: descriptor, compacting, goesOn, copy)
      }
      readers.leave(ticket)
      let status: CInt
      switch outcome {
      case .copied(let code): status = code
      case .ended: return false
      case .notWritten(let code):
        throw LMDBError(.init(rawValue: code), function: "write", detail: detail)
      }
      guard status == MDB_MAP_RESIZED else {
        if status == EAGAIN { throw .reading(status, "mdb_env_copyfd2", path) }
        try check(status, "mdb_env_copyfd2", detail)
        return true
      }
      try adoptMapOfOtherProcess()
      if ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0 {
        throw .system("ftruncate", detail)
      }
    }
  }
}

extension Environment {
  /// Reads every page of a data file and lists its defects.
  ///
  /// liblmdb does not check its file: a damaged one can end the process with a signal. Call this
  /// method before you open a doubtful file. It reads without the memory map, and creates and locks
  /// nothing. It can't check the bytes of values, because LMDB keeps no checksums.
  ///
  /// - Parameters:
  ///   - path: The environment's directory, which holds `data.mdb`.
  ///   - limit: How many defects to collect before the reading ends; at least 1.
  /// - Returns: The defects in words; empty if the file is sound.
  /// - Throws: ``LMDBError`` if the file can't be opened, or with code `changedMeanwhile` if other
  ///   processes write it all the time.
  /// - Complexity: Reads each page once. Memory: two bits per page.
  public static func problems(path: String, limit: Int = 100) throws -> [String] {
    try PageWalker(path: path).check(problemLimit: limit).problems.map(\.description)
  }

  /// Opens a walker on the open data file, even if its path has another file by now.
  ///
  /// - Returns: A walker.
  /// - Throws: ``LMDBError`` with the number of the system.
  /// - Precondition: The calling thread is inside ``read(_:)``.
  package func pageWalker() throws(LMDBError) -> PageWalker {
    try PageWalker(file.descriptor, path: readerTable == nil ? "\(path)/\(DataFile.name)" : path)
  }
}
