import PandoModels
import PandoStore
import PandoSystem

/// `pando watch`: prints commits as they happen.
enum WatchCommand: Command {
  static let declaration = CommandDeclaration(
    name: "watch",
    summary: "print what is committed, as it happens, until it is interrupted",
    positionals: [.store],
    options: [
      .assumingNoWriter,
      .value(
        "--since", "N",
        "begin behind commit N or N.HISTORY; behind the newest one unless given"
      ),
      .value("--cursor", "NAME", "continue at the position of the cursor NAME, and move it"),
      .value("--type", "TYPE", repeats: true, "only nodes with a record of this type"),
      .value("--prefix", "TEXT", "only identifiers and keys of lists that begin with TEXT"),
      .flag("--values", "with the records of inserted and updated nodes"),
      .value("--count", "N", "end after N commits"),
      .flag("--json", "JSON on a terminal too"),
    ],
    notes: [
      """
      Each line is a JSON object, printed immediately: commit, date, author, inserted, updated, \
      deleted, collections, as `pando changes --json` prints them. On a terminal the output is a \
      table. A commit is not printed if the options exclude all its changes. The type of a \
      deleted node is no longer known, so --type prints all deleted nodes; it prints no lists.
      """,
      """
      If the change log does not reach back far enough, the command prints {"reload": {"from": \
      N, "to": M}}: read your data again. All later lines were committed after M.
      """,
      """
      --values adds each record as it is when the command reads it, with the number of that \
      commit. After `pando retention --records on` it adds the record as the commit left it.
      """,
      """
      --cursor opens the store for writing. The cursor moves past a commit after its line has \
      been written; after a crash the last lines are printed again. The command ends with status \
      0 at SIGINT, at SIGTERM, and when the reader of its output has ended.
      """,
    ],
    examples: [
      .init("pando watch tweets --type User --values", "users as they change"),
      .init("pando watch tweets --cursor mailer | ./mail", "each change at least once"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let since = try arguments.commitNumber("--since")
    let cursorName = arguments.value("--cursor")
    let count = try arguments.count("--count") ?? .max
    let access: StoreAccess = cursorName == nil ? .read : .change
    let filter = ChangeFilter(
      types: arguments.values("--type"), prefix: arguments.value("--prefix") ?? "")
    let form = WatchForm(asJSON: arguments.has("--json"))
    let interruption = try Interruption()
    try await access.open(arguments[0], for: declaration) { store in
      let cursor = try cursorName.map { try store.cursor(named: $0, startingAfter: since) }
      let newest = try await store.read { try $0.commitNumber }
      let start = try cursor?.state.position ?? since ?? newest
      let watch = Watch(
        store: store, cursor: cursor, filter: filter, readsRecords: arguments.has("--values"),
        lineCount: count)
      // Only the task writes to it until the task has ended.
      nonisolated(unsafe) let output = output
      let task = Task {
        try await watch.run(from: start) { line in
          unsafe try output.write(form.text(of: line), whenReady: interruption.waitsFor)
        }
      }
      interruption.cancels(task)
      try await task.value
    }
  }
}

/// Passes commits to a closure and moves a cursor behind them.
private struct Watch: Sendable {
  let store: ModelStore
  let cursor: ChangeCursor?
  let filter: ChangeFilter
  let readsRecords: Bool
  let lineCount: Int

  /// Runs until the task is cancelled, all requested lines are printed, or an error is thrown.
  func run(
    from start: CommitNumber, _ print: @escaping @Sendable (WatchLine) throws -> Void
  ) async throws {
    let (numbers, worked) = AsyncStream.makeStream(
      of: CommitNumber.self, bufferingPolicy: .bufferingNewest(1))
    let printed = Locked<CommitNumber?>(nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { worked.finish() }
        try await follow(from: start, print) { number in
          printed.withLock { $0 = number }
          worked.yield(number)
        }
      }
      // Printed lines are acknowledged while the next ones are written.
      group.addTask {
        for await number in numbers { try await cursor?.acknowledge(number) }
      }
      // The first error ends the other task.
      while try await group.next() != nil {}
    }
    // A cancelled task leaves the last number unacknowledged.
    if let last = printed.withLock(\.self) { try await cursor?.acknowledge(last) }
  }

  private func follow(
    from start: CommitNumber, _ print: @Sendable (WatchLine) throws -> Void,
    _ done: @Sendable (CommitNumber) -> Void
  ) async throws {
    var last = start
    var left = lineCount
    while left > 0, !Task.isCancelled {
      do {
        for try await change in store.changes(since: last, values: readsRecords) {
          if let shown = try filter.apply(to: change, in: store) {
            try print(.commit(shown))
            left -= 1
          }
          last = change.commitNumber
          done(last)
          if left == 0 { return }
        }
        return
      } catch let error as StoreError where error.code == .changesExpired {
        let newest = try await store.read { try $0.commitNumber }
        try print(.reload(from: last, to: newest))
        left -= 1
        last = newest
        done(last)
      }
    }
  }
}

/// The changes to print.
struct ChangeFilter: Sendable {
  let types: [String]
  let prefix: String

  /// Returns the matching part of a change set; `nil` if it is empty.
  func apply(to change: ChangeSet, in store: ModelStore) throws -> ChangeSet? {
    if types.isEmpty && prefix.isEmpty { return change }
    func begins(_ text: String) -> Bool { text.utf8.starts(with: prefix.utf8) }
    let records = change.records.filter {
      begins($0.node.identifier) && (types.isEmpty || types.contains($0.node.typeName))
    }
    let left = try store.read { snapshot in
      func wanted(_ identifier: String) throws -> Bool {
        guard begins(identifier) else { return false }
        if types.isEmpty { return true }
        let known = try snapshot.typeNames(of: identifier)
        return known.isEmpty || known.contains(where: types.contains)
      }
      return ChangeSet(
        commitNumber: change.commitNumber, updated: try change.updated.filter(wanted),
        inserted: try change.inserted.filter(wanted), deleted: change.deleted.filter(begins),
        collections: types.isEmpty ? change.collections.filter { begins($0.cacheKey) } : [],
        author: change.author, date: change.date)
    }
    return left.isEmpty ? nil : left.with(records)
  }
}
