import PandoLMDB

extension ModelStore {
  /// Checks the whole store while others read and write.
  ///
  /// First every page of the file, read without the memory map; then, if the pages are sound, that
  /// every record decodes and its checksum holds, that records and dependency index agree in both
  /// directions, that no node contains itself, and that collections, counts and change log are whole.
  ///
  /// - Parameter progress: Told how far the check has come, about once for each thousand pages and
  ///   each ten thousand rows.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: `LMDBError` or `PageWalkError` when the file can't be read at all.
  /// - Complexity: Reads the file twice.
  public func verify(
    progress: ((VerificationProgress) -> Void)? = nil
  ) throws -> VerificationReport {
    for _ in 1..<Self.verificationAttemptMaximum {
      do {
        return try verifyNewest(progress)
      } catch let error as PageWalkError where error.code == .changedMeanwhile {
        continue
      }
    }
    return try verifyNewest(progress)
  }

  /// How often a version is tried whose meta page two commits overwrite before it has been read.
  ///
  /// The snapshot keeps its pages but not its meta page, and that is read at once: once is seldom
  /// needed, twice hardly ever.
  private static let verificationAttemptMaximum = 64

  private func verifyNewest(
    _ progress: ((VerificationProgress) -> Void)?
  ) throws -> VerificationReport {
    try core.read { reader in
      let version = PageWalker.Version.transaction(reader.snapshot.transactionID)
      var report = try Self.checkPages(path: path, version, progress)
      guard report.isClean else { return report }
      let pageCount = report.pageCount
      report = try StoreCheck(core).run(reader, progress: progress)
      report.pageCount = pageCount
      return report
    }
  }

  /// Checks a store that may be too damaged to be opened.
  ///
  /// The pages are walked before anything maps the file; only if they are sound is it opened, for
  /// reading, and the rest checked.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - progress: Told how far the check has come.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: ``StoreError`` when the sound pages hold no store; `LMDBError` or `PageWalkError`
  ///   when the file can't be read at all.
  public static func verify(
    path: String, progress: ((VerificationProgress) -> Void)? = nil
  ) throws -> VerificationReport {
    let report = try checkPages(path: path, .newest, progress)
    guard report.isClean else { return report }
    var configuration = Configuration()
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try store.verify(progress: progress)
  }

  static func checkPages(
    path: String, _ version: PageWalker.Version, _ progress: ((VerificationProgress) -> Void)?
  ) throws -> VerificationReport {
    let pages = try PageWalker(path: path).check(
      version, problemLimit: VerificationReport.problemCountMaximum
    ) { seen, total in
      progress?(VerificationProgress(stage: .pages, completedCount: seen, totalCount: total))
    }
    var report = VerificationReport()
    report.pageCount = Int(clamping: pages.lastPage) + 1
    report.problems = pages.problems.map { problem in
      VerificationReport.Problem(
        subject: problem.pageNumber.map { "page \($0)" } ?? "the file", reason: problem.message)
    }
    return report
  }
}
