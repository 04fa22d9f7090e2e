import PandoModels
import PandoReplication
import PandoStore
import PandoSystem

/// `pando replica`: a replicated store and its log.
enum ReplicaCommand: Command {
  static let declaration = CommandDeclaration(
    name: "replica",
    summary: "begin and join a log of several machines, show their positions, repair it",
    positionals: [
      .store,
      Positional(
        "ACTION", count: .optional,
        "status, begin, join, put-copy, check, outcome or repair; none is status"),
      Positional("NAME", count: .optional, "outcome: the name of a write, from its error"),
    ],
    options: ReplicaLog.options + [
      .value("--to", "FOLDER", "put-copy: put the copy there and not into the log"),
      .flag("--replace", "join: replace a store that can't follow its log by the newest copy"),
      .flag("--republish", "repair: continue the log from the contents of this store"),
      .flag("--empty", "repair: remove all entries of the log first"),
      .flag("--yes", "do not ask"),
      .json,
    ],
    actions: [
      "STORE [status] [LOG] [--json]",
      "STORE begin LOG",
      "STORE join [--replace [--yes]] LOG",
      "STORE put-copy LOG",
      "STORE put-copy --to FOLDER",
      "STORE check LOG [--json]",
      "STORE outcome NAME",
      "STORE repair --republish [--empty] [--yes] LOG",
    ],
    notes: [
      """
      LOG is --server URL… --stream NAME for NATS JetStream, and --server HOST… --database NAME --user NAME --log NAME for \
      PostgreSQL, with the options of the connection.
      """,
      """
      status reads the store, and with LOG also the log: its last position, how far the store is behind, and the position of \
      the newest copy. A service may have the store open during status, put-copy, check and outcome, but not during the other \
      actions.
      """,
      """
      begin creates the streams or the tables of a new log, and begins the log with the contents of the store. It creates a \
      missing store. Run it once for each log; the other machines join.
      """,
      """
      join creates a missing store from the newest copy in the log and the later entries. An existing store takes in the \
      entries that it lacks. --replace is for a store whose next entry is no longer in the log, that is ahead of the log \
      (logLost), or that has another history (forked). Data that only this store has is lost; its own properties and tables \
      stay.
      """,
      """
      check compares the store with the newest copy in the log and the later entries, at the position of the store, and prints \
      the differences. Run it on each machine, because one machine made the copy.
      """,
      """
      repair --republish is for a log that has lost its end or all of its entries, and for a store that was restored from a \
      backup. Run it on the machine whose store becomes the new state of all machines. Then run join --replace on the machines \
      that report logLost or forked. Writes that only other machines have are lost. The command refuses a log that another \
      store has begun; --empty removes all entries of such a log, if no machine follows it.
      """,
    ],
    examples: [
      .init("pando replica boards", "how far the store has come"),
      .init(
        "pando replica boards join --server nats://127.0.0.1:4222 --stream boards",
        "a new machine begins with a copy of all that is there"),
      .init(
        "pando replica boards check --server db.example.org --database shop --user shop --log boards",
        "whether the store is what the log says"),
      .init(
        "pando replica boards put-copy --to copy", "a copy that another machine can begin with"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    let action = arguments.optional(1) ?? "status"
    try refuseOptions(arguments, of: action)
    switch action {
    case "status": try await status(path, arguments, output)
    case "begin": try await begin(path, arguments, output)
    case "join": try await join(path, arguments, output)
    case "put-copy": try await putCopy(path, arguments, output)
    case "check": try await check(path, arguments, output)
    case "outcome": try await outcome(path, arguments, output)
    case "repair": try await repair(path, arguments, output)
    default:
      throw CommandError(
        .usage, "“\(action)” is no action of replica",
        remedy: "it is status, begin, join, put-copy, check, outcome or repair")
    }
  }

  private static func refuseOptions(_ arguments: ParsedArguments, of action: String) throws {
    let homes = [
      "--to": ["put-copy"], "--replace": ["join"], "--republish": ["repair"],
      "--empty": ["repair"], "--json": ["status", "check"], "--yes": ["join", "repair"],
    ]
    for (name, own) in homes.sorted(by: { $0.key < $1.key }) where !own.contains(action) {
      try arguments.refuse([name], "is for \(own.joined(separator: " and ")), not for \(action)")
    }
    guard action != "outcome", let name = arguments.optional(2) else { return }
    throw CommandError(
      .usage, "“\(name)” is one argument too many", remedy: "see: pando replica --help")
  }

  // MARK: Actions

  private static func status(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    let (row, commit) = try await StoreAccess.read.open(path, for: declaration) { store in
      try store.read { (try $0.replicationRow, try $0.commitValue) }
    }
    guard let row else {
      throw CommandError(
        .badInput, at: path, "the store follows no log",
        remedy: "a program makes it follow one with ReplicatedStore")
    }
    var ends: (end: UInt64, copy: UInt64?)?
    if !arguments.values("--server").isEmpty {
      ends = try await ReplicaLog(arguments).with(path) { log in
        (try log.end(), try log.snapshotPosition())
      }
    }
    let identity = row.log.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    if arguments.has("--json") {
      var fields: [(String, TreeValue)] = [
        ("log", .string(identity)), ("position", TreeValue(exactly: row.position) ?? .null),
        ("commit", TreeValue(exactly: commit) ?? .null),
      ]
      if let ends {
        fields.append(("end", TreeValue(exactly: ends.end) ?? .null))
        fields.append(("copy", ends.copy.flatMap { TreeValue(exactly: $0) } ?? .null))
      }
      return try output.line(
        TreeValue.object(Dictionary(uniqueKeysWithValues: fields)).json(isPretty: true))
    }
    var table = TextTable([.left, .left])
    table.row("log", identity)
    table.row("position", "\(row.position)")
    table.row("commit", "\(commit)")
    if let ends {
      let relation =
        ends.end < row.position
        ? ", \(row.position - ends.end) less than the store has applied"
        : ends.end > row.position ? ", \(ends.end - row.position) ahead" : ""
      table.row("end of the log", "\(ends.end)\(relation)")
      table.row("newest copy", ends.copy.map { "\($0)" } ?? "none")
    }
    for line in table.lines { try output.line(line) }
  }

  private static func begin(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    let position = try await ReplicaLog(arguments).with(path, makes: true) { log in
      guard try log.end() == 0, try log.snapshotPosition() == nil else {
        throw CommandError(
          .badInput, at: path, "the log has been begun already", remedy: "join it, or repair it")
      }
      let store = try ReplicatedStore(path: path, log: log)
      do {
        let position = try await store.putSnapshot()
        await store.close()
        return position
      } catch {
        await store.close()
        throw error
      }
    }
    try output.line("\(path) has begun the log; both have position \(position)")
  }

  private static func join(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    if arguments.has("--replace") {
      try StoreAccess.requireStore(at: path)
      try ask(
        arguments,
        "\(path) becomes the newest copy of the log; writes that only \(path) has are lost.", path)
      try await ReplicaLog(arguments).with(path) { log in
        try await ReplicatedStore.replace(path: path, log: log)
      }
    }
    let position = try await ReplicaLog(arguments).with(path) { log in
      let store = try ReplicatedStore(path: path, log: log)
      do {
        try await store.caughtUp()
        let position = try store.position
        await store.close()
        return position
      } catch {
        await store.close()
        throw error
      }
    }
    try output.line("\(path) has position \(position)")
  }

  private static func putCopy(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    try StoreAccess.requireStore(at: path)
    if let folder = arguments.value("--to") {
      let position = try await placed(path) {
        try await ReplicatedStore.copy(path: path, to: folder)
      }
      return try output.line("\(folder) has a copy with position \(position)")
    }
    let position = try await ReplicaLog(arguments).with(path) { log in
      try await ReplicatedStore.putSnapshot(path: path, log: log)
    }
    try output.line("the log has a copy with position \(position)")
  }

  private static func check(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    try StoreAccess.requireStore(at: path)
    let found = try await ReplicaLog(arguments).with(path) { log in
      try await ReplicatedStore.compare(path: path, log: log)
    }
    if arguments.has("--json") {
      let fields: [String: TreeValue] = [
        "position": TreeValue(exactly: found.position) ?? .null,
        "copy": TreeValue(exactly: found.copyPosition) ?? .null,
        "differences": .integer(Int64(found.differenceCount)),
        "names": .array(found.differences.map { .string($0) }),
      ]
      try output.line(TreeValue.object(fields).json(isPretty: true))
    } else {
      for name in found.differences { try output.line(name.escapingControlCharacters) }
      if found.differenceCount == 0 {
        try output.line(
          "\(path) is what the log says at position \(found.position), from the copy at \(found.copyPosition) on"
        )
      }
    }
    guard found.differenceCount > 0 else { return }
    throw CommandError(
      .failure, at: path,
      "\(found.differenceCount) things are not what the log says at position \(found.position)",
      remedy: "check the other machines too: see docs/replication.md")
  }

  private static func outcome(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    guard let name = arguments.optional(2) else {
      throw CommandError(
        .usage, "the name of the write is missing", remedy: "the error of the write has it")
    }
    try StoreAccess.requireStore(at: path)
    let outcome = try await placed(path) {
      try ReplicatedStore.outcome(ofWrite: name, path: path)
    }
    let text: String? =
      switch outcome {
      case .stored(let position): "stored at position \(position)"
      case .refused: "refused: nothing of it is stored"
      case .pending: "pending: it has not come"
      case .absent: "absent: it is not stored, and can't come any more"
      case .unknown: "unknown: the store became a copy that has seen it"
      case nil: nil
      }
    guard let text else {
      throw CommandError(.notThere, at: path, "there is no write \(name) whose answer was lost")
    }
    try output.line(text)
  }

  private static func repair(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    guard arguments.has("--republish") else {
      throw CommandError(
        .usage, "repair needs an option that says how", remedy: "see: pando replica --help")
    }
    try StoreAccess.requireStore(at: path)
    try ask(
      arguments,
      "The log continues from the contents of \(path); writes that only other machines have are lost."
        + (arguments.has("--empty") ? " All messages and copies are removed first." : ""),
      path)
    let log = try ReplicaLog(arguments)
    if arguments.has("--empty") { try await log.empty(path) }
    let position = try await log.with(path, makes: true) { log in
      try await ReplicatedStore.republish(path: path, log: log)
    }
    try output.line("the log continues from position \(position)")
  }

  private static func ask(_ arguments: ParsedArguments, _ text: String, _ path: String) throws {
    if arguments.has("--yes") { return }
    StandardError.line("\(text) Type yes to go on.")
    guard readLine() == "yes" else {
      throw CommandError(.badInput, at: path, "not confirmed", remedy: "nothing was changed")
    }
  }

  private static func placed<Result>(
    _ path: String, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw CommandError(wrapping: error, store: path)
    }
  }
}
