import PandoLMDB
import PandoSystem

/// The parts of asynchronous long reads. PandoMetrics contains these, because async functions have
/// a size even in programs that do not call them.
extension ModelStore {
  /// Copies like ``copy(to:compacting:)``, and reports progress.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether to omit free pages.
  ///   - progress: Called with the number of completed bytes and the total, each counted when
  ///     written and when checked; returns `false` to end the copy. `nil` never ends it.
  /// - Returns: Whether the copy is complete; else it was removed.
  /// - Throws: Same as the other form.
  package func copy(
    to destination: String, compacting: Bool,
    progress: ((_ completed: Int, _ total: Int) -> Bool)?
  ) throws -> Bool {
    var isWhole = false
    try core.whileOpen {
      let size = try core.environment.statistics()
      var total = compacting ? size.usedSizeInBytes : size.fileSizeInBytes
      isWhole = try core.environment.copy(
        to: destination, compacting: compacting,
        goesOn: { count in
          total = max(total, count)
          return progress?(count, 2 * total) ?? true
        }
      ) { copy in
        try checkCopy(copy) { share in
          progress?(total + Int(share * Double(total)), 2 * total) ?? true
        }
      }
      if isWhole { _ = progress?(2 * total, 2 * total) }
    }
    return isWhole
  }

  /// Opens an environment in memory with a copy of this store, and walks the pages of the copy.
  func copyToMemory(_ engine: Environment.Configuration) throws -> Environment {
    try core.whileOpen {
      try Environment.inMemory(copyOf: core.environment, configuration: engine) { copy in
        _ = try checkCopy(copy) { _ in true }
      }
    }
  }

  /// Walks the pages of a copy before it gets its name.
  ///
  /// - Returns: `false` if `goesOn` ended it.
  private func checkCopy(
    _ copy: PageWalker, _ goesOn: @escaping (_ share: Double) -> Bool
  ) throws -> Bool {
    struct Ended: Error {}
    let report: VerificationReport
    do {
      report = try StoreCheck.pages(copy, .newest) { pages in
        guard goesOn(Double(pages.completedCount) / Double(max(pages.totalCount, 1))) else {
          throw Ended()
        }
      }
    } catch is Ended {
      return false
    }
    guard let problem = report.problems.first else { return true }
    throw StoreError(
      .damaged, path,
      "its pages are not sound as a copy has read them, so there is no copy: \(problem) "
        + "(\(report.problems.count) problems in all); run verify")
  }

  /// Dumps like ``dump(_:)``; also passes which lines are nodes and the number of nodes.
  package func dump(
    counting line: (_ text: String, _ isNode: Bool, _ nodeCount: Int) throws -> Void
  ) throws {
    try core.whileOpen {
      try core.read { reader in
        let total = try reader.snapshot.count(of: core.tables.nodes)
        try StoreDump(path: path).run(reader) { written in
          var isNode = false
          if case .node = written { isNode = true }
          try line(written.text, isNode, total)
        }
      }
    }
  }

  /// The error of further reads, once the store closes.
  package var closedError: StoreError? { core.feed.isEnded ? core.closed : nil }
}
