import FoundationEssentials
import PandoModels
import PandoStore

/// `pando cursors`: the readers of the change log and their positions.
enum CursorsCommand: Command {
  static let declaration = CommandDeclaration(
    name: "cursors",
    summary: "list the named cursors of the change log and how far each has come",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value("--remove", "NAME", repeats: true, "remove this cursor instead"),
    ] + Option.lists,
    notes: [
      """
      Each line has the name, the commit up to which the cursor has acknowledged, the number of \
      commits it is behind, and the time of its last acknowledgement, with tabs between them. \
      `lost` marks a cursor whose next commits are no longer in the log. The log keeps all \
      commits that a cursor still needs, so remove a cursor that no program uses any more.
      """
    ],
    examples: [
      .init("pando cursors tweets", "how far each consumer is"),
      .init("pando cursors tweets --remove mailer", "keep nothing for it any more"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let names = arguments.values("--remove")
    let form = try ListForm(arguments)
    guard names.isEmpty else {
      return try await StoreAccess.change.open(arguments[0], for: declaration) { store in
        for name in names {
          guard try store.removeCursor(named: name) else {
            throw CommandError(
              .notThere, at: arguments[0], "there is no cursor \(name)",
              remedy: "list them with: pando cursors \(arguments[0])")
          }
        }
      }
    }
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      let statistics = try store.statistics()
      let newest = statistics.commitNumber.value
      let oldest = newest - min(newest, UInt64(statistics.changeLogCount))
      var list = ListOutput(
        output, form, columns: ["name", "commit", "behind", "date", "lost"])
      for cursor in try store.cursors() {
        let date = cursor.date.formatted(.iso8601)
        let behind = newest - min(newest, cursor.position.value)
        let isLost = cursor.position.value < oldest
        let value: TreeValue = [
          "name": .string(cursor.name),
          "commit": TreeValue(exactly: cursor.position.value) ?? .null,
          "behind": TreeValue(exactly: behind) ?? .null, "date": .string(date),
          "lost": .bool(isLost),
        ]
        let words = [
          cursor.name.escapingControlCharacters, String(cursor.position.value), String(behind),
          date,
        ]
        try list.write(
          value: value, line: (words + (isLost ? ["lost"] : [])).joined(separator: "\t"))
      }
      try list.end()
    }
  }
}

/// `pando retention`: the limits of the change log.
enum RetentionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "retention",
    summary: "print or set how much of the change log is kept",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value("--commits", "N", "keep the newest N commits, at least 1"),
      .value("--cursor-commits", "N", "keep at most N commits for cursors that are behind"),
      .value(
        "--records", "on|off", "keep each commit with the records that it has written",
        choices: ["on", "off"]),
      .json,
    ],
    notes: [
      """
      A service whose configuration has higher numbers raises them again when it opens the \
      store. A write deletes at most 64 commits of the log, so a lower number takes effect \
      gradually; turning records off removes the kept records at once.
      """
    ],
    examples: [
      .init("pando retention tweets", "how much is kept"),
      .init("pando retention tweets --commits 1000", "keep less"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let commits = try arguments.count("--commits").map { UInt64($0) }
    let cursorCommits = try arguments.count("--cursor-commits").map { UInt64($0) }
    guard commits != 0 else {
      throw CommandError(.usage, "--commits takes a number that is 1 or more, not “0”")
    }
    let records = arguments.value("--records")
    guard records == nil || records == "on" || records == "off" else {
      throw CommandError(.usage, "--records takes on or off, not “\(records ?? "")”")
    }
    let changes = commits != nil || cursorCommits != nil || records != nil
    let access: StoreAccess = changes ? .change : .read
    let kept = try await access.open(arguments[0], for: declaration) { store in
      try store.setRetention(
        commitCount: commits, cursorCommitCount: cursorCommits,
        keepsRecords: records.map { $0 == "on" })
    }
    if arguments.has("--json") {
      let value: TreeValue = [
        "commits": TreeValue(exactly: kept.commitCount) ?? .null,
        "cursorCommits": TreeValue(exactly: kept.cursorCommitCount) ?? .null,
        "records": .bool(kept.keepsRecords),
      ]
      return try output.line(value.json(isPretty: true))
    }
    var table = TextTable([.left, .right])
    table.row("commits", Figures.count(kept.commitCount))
    table.row("commits for cursors", Figures.count(kept.cursorCommitCount))
    table.row("records", kept.keepsRecords ? "on" : "off")
    for line in table.lines { try output.line(line) }
  }
}
