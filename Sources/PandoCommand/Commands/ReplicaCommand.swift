import PandoModels
import PandoReplication
import PandoStore
import PandoSystem

#if NATS
  import PandoNATSLog
#endif

/// `pando replica`: a store of several machines, and its log.
enum ReplicaCommand: Command {
  static let declaration = CommandDeclaration(
    name: "replica",
    summary: "show how far a store of several machines is, join, copy it, mend its log",
    positionals: [
      .store,
      Positional("ACTION", count: .optional, "status, join, snapshot or repair; none is status"),
    ],
    options: [
      .value("--server", "URL", repeats: true, "a server of the log, as nats://127.0.0.1:4222"),
      .value("--stream", "NAME", "the stream that holds the log"),
      .value("--subject", "NAME", "the subject of its messages, where it is not pando.STREAM"),
      .value("--replicas", "N", "how many servers keep a stream that is made here: 1, 3 or 5; 3"),
      .value("--ca", "FILE", "the certificates to trust; with it connections are encrypted"),
      .value("--certificate", "FILE", "the client's certificate"),
      .value("--key", "FILE", "the key of the client's certificate"),
      .value("--user", "NAME", "a name, with --password-file"),
      .value("--password-file", "FILE", "the file that holds the password"),
      .value("--nkey", "PUBLIC", "the public part of an NKey, with --seed"),
      .value("--seed", "FILE", "the file that holds the seed of the NKey"),
      .value("--credentials", "FILE", "a file with a token and its seed, as nsc makes it"),
      .flag("--plain-text", "let plain text go to other machines"),
      .value("--to", "FOLDER", "snapshot: put the copy there and not beside the log"),
      .flag("--replace", "join: make a store that can't follow any more what the newest copy is"),
      .flag("--republish", "repair: have the log go on from what this store holds"),
      .flag("--yes", "do not ask"),
      .json,
    ],
    actions: [
      "STORE [status] [--server URL… --stream NAME] [--json]",
      "STORE join --server URL… --stream NAME [--replace [--yes]]",
      "STORE snapshot --server URL… --stream NAME",
      "STORE snapshot --to FOLDER",
      "STORE repair --republish [--yes] --server URL… --stream NAME",
    ],
    notes: [
      """
      status reads the store, and with --server the log: where it ends, how far the store is behind, and which \
      position the newest copy has. A service may have the store open; for join and repair nobody may.
      """,
      """
      join makes a store that is not there: from the newest copy beside the log, then by what came \
      since. A store that is there takes in what it lacks. --replace is for one that the log has left behind or that is ahead of it \
      (logLost, forked): what only this store has is lost, its properties and tables of its own stay.
      """,
      """
      repair --republish is for a log that has lost its end, or all of it. Do it at the machine with the highest position, \
      then join --replace at those that say logLost or forked. Writes that only other machines have are lost.
      """,
    ],
    examples: [
      .init("pando replica boards", "how far the store has come"),
      .init(
        "pando replica boards join --server nats://127.0.0.1:4222 --stream boards",
        "a new machine begins with a copy of all that is there"),
      .init(
        "pando replica boards snapshot --to copy", "a copy that another machine can begin with"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    let action = arguments.optional(1) ?? "status"
    try refuseOptions(arguments, of: action)
    switch action {
    case "status": try await status(path, arguments, output)
    case "join": try await join(path, arguments, output)
    case "snapshot": try await snapshot(path, arguments, output)
    case "repair": try await repair(path, arguments, output)
    default:
      throw CommandError(
        .usage, "“\(action)” is no action of replica",
        remedy: "it is status, join, snapshot or repair")
    }
  }

  private static func refuseOptions(_ arguments: ParsedArguments, of action: String) throws {
    let own = [
      "--to": "snapshot", "--replace": "join", "--republish": "repair", "--json": "status",
    ]
    for (name, home) in own.sorted(by: { $0.key < $1.key }) where home != action {
      try arguments.refuse([name], "is for \(home), not for \(action)")
    }
    if action != "join", action != "repair" {
      try arguments.refuse(["--yes"], "is for join and repair, not for \(action)")
    }
  }

  // MARK: Actions

  private static func status(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    let (row, commit) = try await StoreAccess.read.open(path, for: declaration) { store in
      try store.read { (try $0.replicationRow, try $0.commitNumber) }
    }
    guard let row else {
      throw CommandError(
        .badInput, at: path, "the store follows no log",
        remedy: "a program makes it follow one with ReplicatedStore")
    }
    var ends: (end: UInt64, snapshot: UInt64?)?
    if !arguments.values("--server").isEmpty {
      ends = try await withLog(arguments, path) { log in
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
        fields.append(("snapshot", ends.snapshot.flatMap { TreeValue(exactly: $0) } ?? .null))
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
        ? ", \(row.position - ends.end) less than the store has taken in"
        : ends.end > row.position ? ", \(ends.end - row.position) ahead" : ""
      table.row("end of the log", "\(ends.end)\(relation)")
      table.row("newest copy", ends.snapshot.map { "\($0)" } ?? "none")
    }
    for line in table.lines { try output.line(line) }
  }

  private static func join(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    if arguments.has("--replace") {
      try StoreAccess.requireStore(at: path)
      try ask(
        arguments, "What only \(path) has is lost; it becomes the newest copy beside the log.", path
      )
      try await withLog(arguments, path) { log in
        try await ReplicatedStore.replace(path: path, log: log)
      }
    }
    let position = try await withLog(arguments, path) { log in
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

  private static func snapshot(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    try StoreAccess.requireStore(at: path)
    if let folder = arguments.value("--to") {
      let position = try await placed(path) {
        try await ReplicatedStore.copy(path: path, to: folder)
      }
      return try output.line("\(folder) has a copy with position \(position)")
    }
    // The stream of the log has to be there; that of copies is made.
    try await withLog(arguments, path) { _ in }
    let position = try await withLog(arguments, path, makesStreams: true) { log in
      try await ReplicatedStore.putSnapshot(path: path, log: log)
    }
    try output.line("the log has a copy with position \(position)")
  }

  private static func repair(
    _ path: String, _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    guard arguments.has("--republish") else {
      throw CommandError(
        .usage, "repair needs to be told how", remedy: "see: pando replica --help")
    }
    try StoreAccess.requireStore(at: path)
    try ask(
      arguments,
      "The log goes on from what \(path) holds; writes that only other machines have are lost.",
      path)
    let position = try await withLog(arguments, path, makesStreams: true) { log in
      try await ReplicatedStore.republish(path: path, log: log)
    }
    try output.line("the log goes on from position \(position)")
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

  // MARK: The log

  #if NATS
    /// Runs a closure with the log that the arguments name.
    @discardableResult
    private static func withLog<Result>(
      _ arguments: ParsedArguments, _ path: String, makesStreams: Bool = false,
      _ body: (any ReplicationLog) async throws -> Result
    ) async throws -> Result {
      var configuration = try configuration(arguments)
      configuration.makesStream = makesStreams
      return try await placed(path) {
        let log: NATSLog
        do {
          log = try NATSLog(configuration)
        } catch LogFault.unavailable(let reason) {
          throw StoreError(.unavailable, path, reason)
        }
        defer { log.close() }
        do {
          return try await body(log)
        } catch LogFault.unavailable(let reason) {
          throw StoreError(.unavailable, path, reason)
        }
      }
    }

    private static func configuration(
      _ arguments: ParsedArguments
    ) throws -> NATSLogConfiguration {
      let servers = arguments.values("--server")
      guard !servers.isEmpty, let stream = arguments.value("--stream") else {
        throw CommandError(
          .usage, "--server and --stream are missing: they say where the log is",
          remedy: "see: pando replica --help")
      }
      var configuration = NATSLogConfiguration(servers: servers, stream: stream)
      configuration.subject = arguments.value("--subject")
      configuration.replicas = try arguments.count("--replicas") ?? configuration.replicas
      configuration.allowsPlainText = arguments.has("--plain-text")
      let certificate = arguments.value("--certificate")
      let key = arguments.value("--key")
      guard (certificate == nil) == (key == nil) else {
        throw CommandError(.usage, "--certificate and --key belong together")
      }
      if arguments.value("--ca") != nil || certificate != nil || servers.contains(where: isTLS) {
        configuration.tls = NATSLogConfiguration.TLS(
          authorityFile: arguments.value("--ca"), certificateFile: certificate, keyFile: key)
      }
      configuration.credentials = try credentials(arguments)
      return configuration
    }

    private static func isTLS(_ server: String) -> Bool { server.hasPrefix("tls://") }

    private static func credentials(
      _ arguments: ParsedArguments
    ) throws -> NATSLogConfiguration.Credentials {
      let pairs = [("--user", "--password-file"), ("--nkey", "--seed")]
      for (name, file) in pairs
      where (arguments.value(name) == nil) != (arguments.value(file) == nil) {
        throw CommandError(.usage, "\(name) and \(file) belong together")
      }
      let given = ["--user", "--nkey", "--credentials"].filter { arguments.value($0) != nil }
      guard given.count <= 1 else {
        throw CommandError(.usage, "\(given.joined(separator: " and ")) exclude each other")
      }
      if let name = arguments.value("--user"), let file = arguments.value("--password-file") {
        return .user(name, passwordFile: file)
      }
      if let name = arguments.value("--nkey"), let file = arguments.value("--seed") {
        return .nkey(name, seedFile: file)
      }
      return arguments.value("--credentials").map { .credentialsFile($0) } ?? .none
    }
  #else
    @discardableResult
    private static func withLog<Result>(
      _ arguments: ParsedArguments, _ path: String, makesStreams: Bool = false,
      _ body: (any ReplicationLog) async throws -> Result
    ) async throws -> Result {
      throw CommandError(
        .usage, "this pando was built without NATS",
        remedy: "build it with: swift build -c release --traits NATS")
    }
  #endif
}
