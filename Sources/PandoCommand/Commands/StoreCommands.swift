import PandoMetrics
import PandoModels
import PandoStore
import PandoSystem
import Synchronization

/// `pando stat`: the sizes and the state of a store.
enum StatCommand: Command {
  static let declaration = CommandDeclaration(
    name: "stat",
    summary: "print what is in a store and how large it is",
    positionals: [.store],
    options: [.assumingNoWriter, .json],
    examples: [.init("pando stat tweets", "nodes, records by type, bytes, readers, commits")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let (statistics, behind) = try await StoreAccess.read.open(arguments[0], for: declaration) {
      store in
      (try store.statistics(), try store.openReaders().map(\.commitsBehind).max() ?? 0)
    }
    if arguments.has("--json") {
      try output.line(value(statistics, behind).json(isPretty: true))
    } else {
      for line in lines(statistics, behind) { try output.line(line) }
    }
  }

  private static func lines(_ statistics: StoreStatistics, _ behind: Int) -> [String] {
    var table = TextTable([.left, .right])
    table.row("commit", Figures.count(statistics.commitNumber.value))
    table.row("commits in the change log", Figures.count(statistics.changeLogCount))
    table.row("nodes", Figures.count(statistics.nodeCount))
    for (typeName, count) in statistics.recordCounts.sorted(by: { $0.key < $1.key }) {
      table.row("records of \(typeName)", Figures.count(count))
    }
    table.row("edges", Figures.count(statistics.edgeCount))
    table.row("collections", Figures.count(statistics.collectionCount))
    table.row("file", Figures.bytes(statistics.fileSizeInBytes))
    table.row("used", Figures.bytes(statistics.usedSizeInBytes))
    table.row("free", Figures.bytes(statistics.freeSizeInBytes))
    table.row("map", Figures.bytes(statistics.mapSizeInBytes))
    table.row(
      "readers", "\(statistics.readerCount) of \(Figures.count(statistics.readerCountMaximum))")
    if behind > 0 { table.row("oldest reader", "\(Figures.count(behind, "commit")) behind") }
    if let writer = statistics.writerProcessID { table.row("writes now", "process \(writer)") }
    table.row("format", format(statistics.formatVersion))
    table.row("store", statistics.storeIdentifier)
    return table.lines
  }

  /// Returns the version of the format, and for a variant, the version that it varies.
  private static func format(_ version: Int) -> String {
    let present = StoreStatistics.presentFormatVersion
    return switch version {
    case StoreStatistics.checkpointedFormatVersion: "\(present) with checkpoints, marked \(version)"
    case StoreStatistics.replicatedFormatVersion: "\(present) with a log, marked \(version)"
    default: String(version)
    }
  }

  private static func value(_ statistics: StoreStatistics, _ behind: Int) -> TreeValue {
    let records = statistics.recordCounts.mapValues { TreeValue.integer(Int64($0)) }
    return [
      "commit": TreeValue(exactly: statistics.commitNumber.value) ?? .null,
      "history": statistics.commitNumber.historyValue,
      "changeLogCommits": .integer(Int64(statistics.changeLogCount)),
      "nodes": .integer(Int64(statistics.nodeCount)),
      "records": .object(records),
      "edges": .integer(Int64(statistics.edgeCount)),
      "collections": .integer(Int64(statistics.collectionCount)),
      "fileBytes": .integer(Int64(statistics.fileSizeInBytes)),
      "usedBytes": .integer(Int64(statistics.usedSizeInBytes)),
      "freeBytes": .integer(Int64(statistics.freeSizeInBytes)),
      "mapBytes": .integer(Int64(statistics.mapSizeInBytes)),
      "readers": .integer(Int64(statistics.readerCount)),
      "maximumReaders": .integer(Int64(statistics.readerCountMaximum)),
      "mostCommitsBehind": .integer(Int64(behind)),
      "writerProcess": statistics.writerProcessID.map { .integer(Int64($0)) } ?? .null,
      "formatVersion": .integer(Int64(statistics.formatVersion)),
      "store": .string(statistics.storeIdentifier),
    ]
  }
}

/// `pando verify`: checks every byte in use.
enum VerifyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "verify",
    summary: "check every page, record, edge and collection of a store",
    positionals: [.store],
    options: [.assumingNoWriter, .json],
    notes: [
      """
      The command first checks the pages, with plain reads of the file. Only then it opens the \
      store and checks the contents. It prints problems one a line, and the exit status is then \
      4. It repairs nothing.
      """
    ],
    examples: [.init("pando verify tweets", "clean, or what is damaged")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    try StoreAccess.requireStore(at: path)
    SignalLine.prepare(for: "pando verify", path: path)
    let report = try verify(path)
    if arguments.has("--json") {
      try output.line(value(report).json(isPretty: true))
    } else {
      for problem in report.problems {
        try output.line("\(problem)".escapingControlCharacters)
      }
      if report.isClean { try output.line(summary(report)) }
    }
    guard report.isClean else {
      let count = report.problems.count
      let isCutOff = count >= VerificationReport.problemCountMaximum
      throw CommandError(
        .failure, at: path,
        "the store is damaged: \(isCutOff ? "at least " : "")\(Figures.count(count, "problem"))",
        remedy: "restore a copy, or load a dump into a new store")
    }
  }

  private static func verify(_ path: String) throws -> VerificationReport {
    var bars: [StoreProgress.Stage: ProgressBar] = [:]
    defer { for bar in bars.values { bar.clear() } }
    do {
      return try ModelStore.verify(
        path: path, assumingNoWriter: StoreAccess.assumesNoWriter.load(ordering: .relaxed)
      ) { progress in
        let bar =
          bars[progress.stage]
          ?? ProgressBar(
            "checking", counting: "\(progress.stage)", of: progress.totalCount)
        if bars.updateValue(bar, forKey: progress.stage) == nil {
          for (stage, earlier) in bars where stage != progress.stage { earlier.clear() }
        }
        bar.advance(to: progress.completedCount)
      }
    } catch {
      throw CommandError(wrapping: error, store: path)
    }
  }

  private static func summary(_ report: VerificationReport) -> String {
    let parts = [
      Figures.count(report.pageCount, "page"), Figures.count(report.nodeCount, "node"),
      Figures.count(report.recordCount, "record"), Figures.count(report.edgeCount, "edge"),
      Figures.count(report.collectionCount, "collection"),
      Figures.count(report.elementCount, "element"),
    ]
    return "clean: commit \(report.commitNumber.value), " + parts.joined(separator: ", ")
  }

  private static func value(_ report: VerificationReport) -> TreeValue {
    [
      "clean": .bool(report.isClean),
      "problems": .array(
        report.problems.map { ["subject": .string($0.subject), "reason": .string($0.reason)] }),
      "commit": TreeValue(exactly: report.commitNumber.value) ?? .null,
      "pages": .integer(Int64(report.pageCount)),
      "nodes": .integer(Int64(report.nodeCount)),
      "records": .integer(Int64(report.recordCount)),
      "edges": .integer(Int64(report.edgeCount)),
      "collections": .integer(Int64(report.collectionCount)),
      "elements": .integer(Int64(report.elementCount)),
    ]
  }
}

/// `pando changes`: the change log.
enum ChangesCommand: Command {
  static let declaration = CommandDeclaration(
    name: "changes",
    summary: "print what the commits changed",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value(
        "--since", "N",
        "only commits after N or N.HISTORY; all the log holds unless given"),
    ] + Option.lists,
    notes: [
      """
      Each line has the commit number, inserted, updated, deleted or collection, and the \
      identifier or key, with tabs between them. The log has a limit: if it no longer reaches \
      back to N, the exit status is 1. `pando stat` prints the number of the last commit.
      """
    ],
    examples: [
      .init("pando changes tweets --since 41 | cut -f 3 | sort -u", "all that changed since 41")
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let since = try arguments.commitNumber("--since")
    let form = try ListForm(arguments)
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let statistics = try store.statistics()
      let oldest = statistics.commitNumber.value - UInt64(statistics.changeLogCount)
      let changes = try store.read { snapshot in
        try snapshot.changes(since: since ?? CommitNumber(value: oldest))
      }
      try ChangeOutput(changes).write(to: output, form)
    }
  }
}

/// `pando copy`: makes a backup while others read and write.
enum CopyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "copy",
    summary: "copy a store, also while other processes use it",
    positionals: [.store, Positional("DEST", "a directory that does not exist, or is empty")],
    options: [.assumingNoWriter, .flag("--compact", "leave free pages out"), .json],
    notes: [
      """
      The command checks each page, and refuses to copy a damaged store. A copy that fails or is \
      interrupted leaves no store in DEST.
      """
    ],
    examples: [.init("pando copy tweets backup --compact", "a copy without free pages")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let (path, destination) = (arguments[0], arguments[1])
    guard !StoreAccess.hasStore(at: destination) else {
      throw CommandError(
        .failure, at: destination, "there is a store already", remedy: "give another directory")
    }
    let startedAt = ContinuousClock.now
    let interruption = try Interruption(endsUnread: false)
    let compacts = arguments.has("--compact")
    try await StoreAccess.read.open(path, for: declaration) { store in
      let task = Task { try await store.copy(to: destination, compacting: compacts) }
      interruption.cancels(task)
      do {
        try await task.value
      } catch is CancellationError {
        throw CommandError(.failure, at: destination, "interrupted", remedy: "there is no copy")
      }
    }
    let duration = ContinuousClock.now - startedAt
    let byteCount = size(of: destination + "/data.mdb")
    if arguments.has("--json") {
      let value: TreeValue = [
        "destination": .string(destination), "bytes": .integer(Int64(byteCount)),
        "seconds": .double(duration / .seconds(1)),
      ]
      try output.line(value.json(isPretty: true))
    } else {
      try output.line(
        "copied \(path) to \(destination), \(Figures.bytes(byteCount)), "
          + Figures.duration(duration))
    }
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    // `status` is a plain C struct that the call fills.
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// `pando dump`: a store as text.
enum DumpCommand: Command {
  static let declaration = CommandDeclaration(
    name: "dump",
    summary: "print a whole store as JSON lines that `pando load` reads",
    positionals: [.store],
    options: [.assumingNoWriter],
    notes: [
      """
      A dump loses nothing: the dump of a new store that was loaded from it has the same bytes. \
      Other processes may read and write meanwhile; the dump shows one commit.
      """
    ],
    examples: [.init("pando dump tweets | gzip > tweets.gz", "a backup as text")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.dump { line in try output.line(line) }
    }
  }
}

/// `pando load`: makes a store from a dump.
enum LoadCommand: Command {
  static let declaration = CommandDeclaration(
    name: "load",
    summary: "store what `pando dump` printed",
    positionals: [.store, Positional("FILE|-", "a dump, or - for standard input")],
    options: [.json],
    examples: [
      .init("zcat tweets.gz | pando load tweets2 -", "a store from a backup"),
      .init("pando dump tweets | pando load tweets2 -", "a store without free pages or history"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let input = try Input(path: arguments[1])
    let reader = Locked(SharedReader(input))
    let bar = ProgressBar(
      "loading \(input.name)", counting: input.byteCount == nil ? "lines" : "bytes",
      of: input.byteCount)
    defer { bar.clear() }
    let startedAt = ContinuousClock.now
    let report = try await StoreAccess.create.open(arguments[0], for: declaration) { store in
      do {
        return try store.load {
          try reader.withLock { reader in
            guard let line = try reader.lines.next() else { return nil }
            bar.advance(
              to: input.byteCount == nil ? reader.lines.lineNumber : reader.lines.byteCount)
            guard let text = String(validating: line, as: UTF8.self) else {
              throw CommandError(
                .badInput, at: "line \(reader.lines.lineNumber)", "not UTF-8",
                remedy: "nothing was loaded")
            }
            return text
          }
        }
      } catch {
        throw CommandError(wrapping: error).placed(in: input.name)
      }
    }
    bar.clear()
    let duration = ContinuousClock.now - startedAt
    if arguments.has("--json") {
      let value: TreeValue = [
        "source": .string(input.name),
        "nodes": .integer(Int64(report.nodeCount)),
        "collections": .integer(Int64(report.collectionCount)),
        "seconds": .double(duration / .seconds(1)),
      ]
      try output.line(value.json(isPretty: true))
    } else {
      try output.line(
        "loaded \(input.name): \(Figures.count(report.nodeCount, "node")), "
          + "\(Figures.count(report.collectionCount, "collection")), "
          + Figures.duration(duration))
    }
  }

  /// A reference to a reader: a lock holds only copyable values.
  private final class SharedReader {
    var lines: LineReader

    init(_ input: Input) { lines = LineReader(input) }
  }
}
