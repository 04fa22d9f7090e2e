import PandoModels
import PandoStore
import PandoSystem

/// `pando top`: the activity of a store, live.
enum TopCommand: Command {
  static let declaration = CommandDeclaration(
    name: "top",
    summary: "show rates, sizes, readers and the newest changes, until it is interrupted",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value("--interval", "SECONDS", "the time between two outputs; 1 by default"),
      .value("--count", "N", "end after N outputs"),
      .flag("--json", "a JSON object for each output"),
    ],
    notes: [
      """
      On a terminal the command uses the whole window; Q or Ctrl-C ends it. In a pipe or file \
      each output is a block of text and an empty line. The command writes nothing, and holds \
      no read open between two outputs. Other processes may read and write.
      """,
      """
      A reader that is many commits behind prevents reuse of the pages of its version, so the \
      file grows. The number shown for it is that of its process.
      """,
    ],
    examples: [
      .init("pando top tweets", "the figures on the terminal, once a second"),
      .init("pando top tweets --interval 60 --json >> tweets.log", "a record of the figures"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let interval = max(try arguments.count("--interval") ?? 1, 1)
    let count = try arguments.count("--count") ?? .max
    let isJSON = arguments.has("--json")
    let path = arguments[0]
    let interruption = try Interruption()
    try await StoreAccess.read.open(path, for: declaration) { store in
      // With a limited count, the output stays on the terminal.
      let window = isJSON || count < .max ? nil : TerminalWindow()
      defer { window?.leave() }
      // Only the task writes to it until the task has ended.
      nonisolated(unsafe) let output = output
      let task = Task {
        var last: StoreLook?
        var left = count
        while left > 0, !Task.isCancelled {
          left -= 1
          if last != nil {
            do { try await Task.sleep(for: .seconds(interval)) } catch { return }
          }
          let look = try StoreLook(store, readsChanges: !isJSON)
          if let window {
            let frame = window.frame(look.lines(path, after: last, interval, window.size))
            try window.draw { unsafe try output.write(frame, whenReady: interruption.waitsFor) }
          } else {
            let text =
              isJSON
              ? look.value(after: last).json() + "\n"
              : look.lines(path, after: last, interval, nil).joined(separator: "\n") + "\n\n"
            unsafe try output.write(text, whenReady: interruption.waitsFor)
          }
          last = look
        }
      }
      // At once, not after a measurement: a second signal would leave the terminal unrestored.
      let end = { @Sendable in
        task.cancel()
        window?.leave()
      }
      interruption.calls(end)
      window?.endsAtKey(end)
      try await task.value
    }
  }
}

/// The state of a store at one moment.
struct StoreLook {
  /// The maximum number of newest commits shown if the window size is unknown.
  private static let shownCommitMaximum: UInt64 = 50
  private static let shownReaderMaximum = 5

  private let time = ContinuousClock.now
  private let statistics: StoreStatistics
  private let readers: [(processID: Int, commitsBehind: Int)]
  private let changes: [ChangeSet]

  init(_ store: ModelStore, readsChanges: Bool) throws {
    statistics = try store.statistics()
    readers = try store.openReaders().sorted { $0.commitsBehind > $1.commitsBehind }
    let last = statistics.commitNumber.value
    let kept = UInt64(clamping: statistics.changeLogCount)
    let oldest = last - min(last, kept, StoreLook.shownCommitMaximum)
    // The log may be trimmed between the two reads.
    changes =
      readsChanges
      ? (try? store.read { try $0.changes(since: CommitNumber(value: oldest)) }) ?? [] : []
  }

  /// Returns the growth of a count per second.
  private func rate(_ last: StoreLook?, _ count: (StoreStatistics) -> Int) -> Double? {
    guard let last else { return nil }
    let seconds = (time - last.time) / .seconds(1)
    return Double(count(statistics) - count(last.statistics)) / max(seconds, 1e-9)
  }

  /// Returns the lines of a view.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - last: The previous state.
  ///   - interval: The number of seconds between two measurements.
  ///   - size: The size of the window; `nil` for no limit.
  /// - Returns: The lines, at most as many as the window has rows.
  func lines(
    _ path: String, after last: StoreLook?, _ interval: Int, _ size: TerminalWindow.Size?
  ) -> [String] {
    var lines = [
      "pando top: \(path.escapingControlCharacters), commit \(Figures.count(statistics.commitNumber.value))"
        + (size == nil ? "" : ", every \(interval) s, Q ends"), "",
    ]
    var table = TextTable([.left, .right, .right, .left])
    func row(_ name: String, _ figure: String, _ rate: Double? = nil, _ note: String = "") {
      table.row(name, figure, rate.map(Self.perSecond) ?? "", note)
    }
    row(
      "commits", Figures.count(statistics.commitNumber.value),
      rate(last) { Int(clamping: $0.commitNumber.value) })
    row("nodes", Figures.count(statistics.nodeCount), rate(last, \.nodeCount))
    row("edges", Figures.count(statistics.edgeCount), rate(last, \.edgeCount))
    row("collections", Figures.count(statistics.collectionCount), rate(last, \.collectionCount))
    row("file", Figures.bytes(statistics.fileSizeInBytes))
    row("map", Figures.bytes(statistics.mapSizeInBytes))
    row(
      "readers", Figures.count(readers.count), nil,
      "of \(Figures.count(statistics.readerCountMaximum))")
    lines += table.lines
    if let writer = statistics.writerProcessID { lines.append("  process \(writer) writes now") }
    for reader in readers.prefix(StoreLook.shownReaderMaximum) where reader.commitsBehind > 0 {
      lines.append(
        "  process \(reader.processID) reads a version \(Figures.count(reader.commitsBehind, "commit")) behind"
      )
    }
    lines += ["", "newest changes"]
    let room = size.map { max($0.rows - lines.count - 1, 0) } ?? 10
    lines += newestChanges(room)
    return lines
  }

  /// Returns one line for each change, newest first.
  private func newestChanges(_ room: Int) -> [String] {
    var lines: [String] = []
    for change in changes.reversed() where lines.count < room {
      let names =
        change.inserted.sorted().prefix(room).map { ("inserted", $0) }
        + change.updated.sorted().prefix(room).map { ("updated", $0) }
        + change.deleted.sorted().prefix(room).map { ("deleted", $0) }
        + change.collections.prefix(room).map { ("list", $0.cacheKey) }
      lines += names.prefix(room - lines.count).map { kind, name in
        let number = String(change.commitNumber.value)
        let blanks = String(repeating: " ", count: max(0, 10 - number.count))
        let gap = String(repeating: " ", count: 10 - kind.count)
        return "\(blanks)\(number)  \(kind)\(gap)\(name.escapingControlCharacters)"
      }
    }
    return lines
  }

  private static func perSecond(_ rate: Double) -> String {
    let sign = rate > 0 ? "+" : ""
    return sign + (abs(rate) < 10 ? Figures.fixed(rate, 1) : Figures.count(Int(rate.rounded())))
      + "/s"
  }

  /// Returns the figures as JSON, with rates if there is a previous state.
  func value(after last: StoreLook?) -> TreeValue {
    let behind = readers.map(\.commitsBehind).max() ?? 0
    return [
      "commit": TreeValue(exactly: statistics.commitNumber.value) ?? .null,
      "commitsPerSecond": rate(last) { Int(clamping: $0.commitNumber.value) }.map { .double($0) }
        ?? .null,
      "nodes": .integer(Int64(statistics.nodeCount)),
      "edges": .integer(Int64(statistics.edgeCount)),
      "collections": .integer(Int64(statistics.collectionCount)),
      "fileBytes": .integer(Int64(statistics.fileSizeInBytes)),
      "usedBytes": .integer(Int64(statistics.usedSizeInBytes)),
      "freeBytes": .integer(Int64(statistics.freeSizeInBytes)),
      "mapBytes": .integer(Int64(statistics.mapSizeInBytes)),
      "readers": .integer(Int64(readers.count)),
      "mostCommitsBehind": .integer(Int64(behind)),
      "writerProcess": statistics.writerProcessID.map { .integer(Int64($0)) } ?? .null,
    ]
  }
}
