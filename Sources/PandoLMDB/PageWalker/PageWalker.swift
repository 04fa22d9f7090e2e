/// Reads an LMDB data file page by page, without liblmdb and without a memory map.
///
/// ```swift
/// let walker = try PageWalker(path: "people.db")
/// let report = try walker.check { seen, count in print(seen, "of", count, "pages") }
/// print(report.isClean, report.problems)
/// ```
///
/// liblmdb does not check its file: a truncated or damaged one can end the process with a signal.
/// Use this type before liblmdb opens a doubtful file. It checks the meta pages, every page of
/// every tree and the free list, and that each page is used once. It can't check the bytes of
/// values: LMDB keeps no checksums.
///
/// It reads files of lmdb 0.9 from a little-endian 64-bit machine, with liblmdb's own key orders.
/// Tables with a program's comparison (`mdb_set_compare`) seem out of order. It reports, and does
/// not read, a table with several values under one key (`MDB_DUPSORT`), which Pando never creates.
/// `docs/design.md`, "Errors and bad input", describes its use by a store.
///
/// The file may be open in this process or in others, and may be written to meanwhile. A version
/// stays readable until a later commit reuses its pages, which takes two more commits. Then the
/// walk starts again, a few times. For a file under constant writes, open a read transaction and
/// walk ``Version/transaction(_:)``, which the transaction protects.
///
/// - Note: Any thread; several threads may use one walker at the same time.
package struct PageWalker: Sendable {
  /// The version of the contents to walk.
  ///
  /// ```swift
  /// let report = try environment.read { snapshot in
  ///   let version = PageWalker.Version.transaction(snapshot.transactionID)
  ///   return try PageWalker(path: environment.path).check(version)
  /// }
  /// ```
  package struct Version: Hashable, Sendable {
    let transactionID: UInt64?

    /// The newest committed version.
    package static let newest = Version(transactionID: nil)

    /// The version of a read transaction, which must stay open during the walk.
    ///
    /// Its meta page lasts until the second commit after it, so start the walk soon after the
    /// transaction.
    ///
    /// - Parameter transactionID: The `mdb_txn_id` of the read transaction.
    /// - Returns: The version to walk.
    package static func transaction(_ transactionID: UInt64) -> Version {
      Version(transactionID: transactionID)
    }
  }

  let file: PageFile

  /// The most attempts of a walk while other commits overwrite pages.
  static let attemptLimit = 4

  /// Opens the data file of an environment for reading.
  ///
  /// It creates and locks nothing.
  ///
  /// - Parameter path: The environment's directory, which holds `data.mdb`.
  /// - Throws: ``LMDBError`` with the number of the system.
  /// - Complexity: O(1).
  package init(path: String) throws(LMDBError) {
    file = try PageFile(environment: path)
  }

  /// Reads an open data file.
  init(_ descriptor: CInt, path: String) throws(LMDBError) {
    file = try PageFile(descriptor, path: path)
  }

  /// Walks all pages and reports their numbers and problems.
  ///
  /// - Parameters:
  ///   - version: The version to walk.
  ///   - problemLimit: How many problems to collect before the walk ends; at least 1.
  ///   - progress: Called about once per 1 024 pages with the number of walked pages; an error that
  ///     it throws ends the walk.
  /// - Returns: The report; ``PageReport/isClean`` is the summary.
  /// - Throws: ``LMDBError`` with code `changedMeanwhile`, or the error of `progress`. Damage
  ///   is not an error here but part of the report.
  /// - Complexity: Reads each page once, but of overflow pages only the free list's contents.
  ///   Memory: two bits per page, and the largest record of the free list.
  package func check(
    _ version: Version = .newest, problemLimit: Int = 100,
    progress: ((_ pagesSeen: Int, _ pageCount: Int) throws -> Void)? = nil
  ) throws -> PageReport {
    precondition(problemLimit >= 1, "a limit of \(problemLimit) problems")
    for _ in 0..<PageWalker.attemptLimit {
      if let report = try attempt(version, problemLimit: problemLimit, progress: progress) {
        return report
      }
    }
    throw LMDBError.changedMeanwhile(file.path)
  }

  /// Walks all pages and ends at the first problem.
  ///
  /// - Parameters:
  ///   - version: The version to walk.
  ///   - progress: As for ``check(_:problemLimit:progress:)``.
  /// - Returns: The report, which is clean.
  /// - Throws: ``LMDBError`` with code `corrupted` or `incompatibleTable` and the problem, or with code
  ///   `changedMeanwhile`; or the error of `progress`.
  /// - Complexity: As ``check(_:problemLimit:progress:)``.
  @discardableResult
  package func verify(
    _ version: Version = .newest,
    progress: ((_ pagesSeen: Int, _ pageCount: Int) throws -> Void)? = nil
  ) throws -> PageReport {
    let report = try check(version, problemLimit: 1, progress: progress)
    if let problem = report.problems.first {
      throw LMDBError(problem, path: file.path)
    }
    return report
  }

  /// Walks once; `nil` if other commits invalidated the result.
  private func attempt(
    _ version: Version, problemLimit: Int, progress: ((Int, Int) throws -> Void)?
  ) throws -> PageReport? {
    switch try begin(version, problemLimit: problemLimit) {
    case .busy: return nil
    case .refused(let problem):
      return PageReport(problem, fileSizeInBytes: file.sizeInBytes)
    case .walk(let walk):
      walk.progress = progress
      do {
        try walk.run()
      } catch PageWalk.Stop.changed {
        return nil
      } catch PageWalk.Stop.problemLimit {
        // The report contains the problem.
      }
      return walk.hasChanged ? nil : PageReport(walk)
    }
  }

  /// The start of a walk.
  enum Beginning {
    case walk(PageWalk)
    /// The meta pages prevent a walk.
    case refused(PageProblem)
    /// The meta pages kept changing.
    case busy
  }

  /// Reads the meta pages and makes a walk over one version.
  func begin(_ version: Version, problemLimit: Int) throws(LMDBError) -> Beginning {
    guard let metas = MetaPair.read(from: file) else { return .busy }
    if let problem = metas.problem { return .refused(problem) }
    var meta = metas.live
    if let transactionID = version.transactionID {
      guard let page = metas.page(ofTransaction: transactionID) else {
        throw LMDBError.changedMeanwhile(file.path)
      }
      meta = page
    }
    // Read after the meta pages: by now the file has all pages that they refer to.
    let fileSizeInBytes = file.sizeInBytes
    if let problem = meta.versionProblem(fileSizeInBytes: fileSizeInBytes) {
      return .refused(problem)
    }
    return .walk(
      PageWalk(
        file, meta: meta, fileSizeInBytes: fileSizeInBytes, problemLimit: problemLimit,
        isProtected: version.transactionID != nil))
  }
}

extension PageWalker {
  /// Calls `body` with each entry of a table, in key order, read without the memory map.
  ///
  /// Each page is checked before its entries are passed on. The main table also has one entry per
  /// named table, as for liblmdb's cursors.
  ///
  /// - Parameters:
  ///   - name: The table's name, or `nil` for the main table.
  ///   - version: The version to read. Without a protecting read transaction, `changedMeanwhile`
  ///     can come after some entries.
  ///   - body: Receives key and value, valid during the call. An error that it throws ends the
  ///     walk.
  /// - Throws: ``LMDBError`` with code `notFound`, `changedMeanwhile`, `incompatibleTable` or
  ///   `corrupted`; or the error of `body`.
  /// - Complexity: Reads the main table's pages, then each page of the table once. Memory: the
  ///   largest value.
  package func forEachEntry(
    inTable name: String?, version: Version = .newest,
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) throws {
    let changed = LMDBError.changedMeanwhile(file.path)
    switch try begin(version, problemLimit: 1) {
    case .busy: throw changed
    case .refused(let problem):
      throw LMDBError(problem, path: file.path)
    case .walk(let walk):
      do {
        try withoutActuallyEscaping(body) { body in
          defer { walk.visitor = nil }
          try visit(name.map { Array($0.utf8) }, in: walk, body)
        }
      } catch let stop as PageWalk.Stop {
        guard stop == .problemLimit, let problem = walk.problems.first, !walk.hasChanged else {
          throw changed
        }
        throw LMDBError(problem, path: file.path)
      }
      if walk.hasChanged { throw changed }
    }
  }

  private func visit(
    _ name: [UInt8]?, in walk: PageWalk,
    _ body: @escaping (Span<UInt8>, Span<UInt8>) throws -> Void
  ) throws {
    walk.visitor = body
    var main = PageTree(mainOf: walk.meta)
    main.isVisited = name == nil
    try walk.walk(&main)
    guard let name else { return }
    guard var table = walk.tablesToWalk.first(where: { $0.name == name }) else {
      throw LMDBError(.notFound, function: "verify", detail: file.path)
    }
    table.isVisited = true
    try walk.walk(&table)
  }
}
