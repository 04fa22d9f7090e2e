import PandoReplication
import PandoStore

#if NATS
  import PandoNATSLog
#endif
#if PostgreSQL
  import PandoPostgreSQLLog
#endif

/// The log of `pando replica`: a stream of NATS, or tables of a PostgreSQL database.
struct ReplicaLog {
  static let options: [Option] = [
    .value(
      "--server", "URL", repeats: true, "a server of the log, as nats://127.0.0.1:4222 or host:5432"
    ),
    .value("--stream", "NAME", "NATS: the stream that holds the log"),
    .value("--subject", "NAME", "NATS: the subject of its messages, where it is not pando.STREAM"),
    .value(
      "--replicas", "N", "NATS: how many servers keep streams that are made here: 1, 3 or 5; 3"),
    .value("--database", "NAME", "PostgreSQL: the database"),
    .value("--log", "NAME", "PostgreSQL: the name of the log in its schema"),
    .value("--schema", "NAME", "PostgreSQL: the schema of its tables, where it is not pando"),
    .value("--ca", "FILE", "the certificates to trust; with it connections are encrypted"),
    .value("--certificate", "FILE", "the client's certificate"),
    .value("--key", "FILE", "the key of the client's certificate"),
    .value("--user", "NAME", "a name, with --password-file; for PostgreSQL the role"),
    .value("--password-file", "FILE", "the file that holds the password"),
    .value("--passfile", "FILE", "PostgreSQL: a file of passwords, as libpq reads it"),
    .value("--nkey", "PUBLIC", "NATS: the public part of an NKey, with --seed"),
    .value("--seed", "FILE", "NATS: the file that holds the seed of the NKey"),
    .value("--credentials", "FILE", "NATS: a file with a token and its seed, as nsc makes it"),
    .flag("--plain-text", "let plain text go to other machines"),
  ]

  private let arguments: ParsedArguments
  private let isPostgreSQL: Bool

  /// Reads the log's address from the arguments.
  ///
  /// - Throws: ``CommandError`` `usage` for arguments of both kinds, or of none.
  init(_ arguments: ParsedArguments) throws {
    self.arguments = arguments
    let nats = ["--stream", "--subject", "--replicas", "--nkey", "--seed", "--credentials"]
    let others = ["--database", "--log", "--schema", "--passfile"]
    isPostgreSQL = others.contains { arguments.value($0) != nil }
    if isPostgreSQL { try arguments.refuse(nats, "is for NATS, and the log is one of PostgreSQL") }
    let needed = isPostgreSQL ? ["--database", "--log", "--user"] : ["--stream"]
    var missing = needed.filter { arguments.value($0) == nil }
    if arguments.values("--server").isEmpty { missing.insert("--server", at: 0) }
    guard missing.isEmpty else {
      throw CommandError(
        .usage,
        "\(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") missing: where the log is",
        remedy: "see: pando replica --help")
    }
    guard (arguments.value("--certificate") == nil) == (arguments.value("--key") == nil) else {
      throw CommandError(.usage, "--certificate and --key belong together")
    }
  }

  /// Runs a closure with the log.
  ///
  /// - Parameters:
  ///   - path: The store, for errors.
  ///   - makes: Whether to create missing streams or tables.
  ///   - body: Receives the log, which is closed afterwards.
  /// - Returns: The result of `body`.
  /// - Throws: ``CommandError``.
  @discardableResult
  func with<Result>(
    _ path: String, makes: Bool = false, _ body: (any ReplicationLog) async throws -> Result
  ) async throws -> Result {
    do {
      let log: any ReplicationLog =
        isPostgreSQL ? try postgreSQL(makes: makes) : try nats(makes: makes)
      defer { log.close() }
      return try await body(log)
    } catch LogFault.unavailable(let reason) {
      throw CommandError(wrapping: StoreError(.unavailable, path, reason), store: path)
    } catch {
      throw CommandError(wrapping: error, store: path)
    }
  }

  /// Removes the whole content of the log, if it exists.
  func empty(_ path: String) async throws {
    try await with(path, makes: true) { log in
      #if NATS
        if let log = log as? NATSLog { try log.removeAll() }
      #endif
      #if PostgreSQL
        if let log = log as? PostgreSQLLog { try log.removeAll() }
      #endif
    }
  }

  #if PostgreSQL
    private func postgreSQL(makes: Bool) throws -> any ReplicationLog {
      func value(_ name: String) -> String { arguments.value(name) ?? "" }
      var configuration = PostgreSQLLogConfiguration(
        servers: arguments.values("--server"), database: value("--database"),
        user: value("--user"), log: value("--log"))
      if let schema = arguments.value("--schema") { configuration.schema = schema }
      configuration.makesTables = makes
      configuration.allowsPlainText = arguments.has("--plain-text")
      if arguments.value("--ca") != nil || arguments.value("--certificate") != nil {
        configuration.tls = LogTLS(
          authorityFile: arguments.value("--ca"),
          certificateFile: arguments.value("--certificate"), keyFile: arguments.value("--key"))
      }
      let files = ["--password-file", "--passfile"].filter { arguments.value($0) != nil }
      guard files.count <= 1 else {
        throw CommandError(.usage, "\(files.joined(separator: " and ")) exclude each other")
      }
      if let file = arguments.value("--password-file") {
        configuration.credentials = .passwordFile(file)
      } else if let file = arguments.value("--passfile") {
        configuration.credentials = .passfile(file)
      }
      return try PostgreSQLLog(configuration)
    }
  #else
    private func postgreSQL(makes: Bool) throws -> any ReplicationLog {
      throw Self.isBuilt(without: "PostgreSQL")
    }
  #endif

  private static func isBuilt(without trait: String) -> CommandError {
    CommandError(
      .usage, "this pando was built without \(trait)",
      remedy: "build it with: swift build -c release --traits \(trait)")
  }

  #if NATS
    private func nats(makes: Bool) throws -> any ReplicationLog {
      var configuration = NATSLogConfiguration(
        servers: arguments.values("--server"), stream: arguments.value("--stream") ?? "")
      configuration.makesStream = makes
      configuration.subject = arguments.value("--subject")
      configuration.replicas = try arguments.count("--replicas") ?? configuration.replicas
      configuration.allowsPlainText = arguments.has("--plain-text")
      if arguments.value("--ca") != nil || arguments.value("--certificate") != nil
        || configuration.servers.contains(where: { $0.hasPrefix("tls://") })
      {
        configuration.tls = LogTLS(
          authorityFile: arguments.value("--ca"),
          certificateFile: arguments.value("--certificate"), keyFile: arguments.value("--key"))
      }
      configuration.credentials = try natsCredentials()
      return try NATSLog(configuration)
    }

    private func natsCredentials() throws -> NATSLogConfiguration.Credentials {
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
    private func nats(makes: Bool) throws -> any ReplicationLog {
      throw Self.isBuilt(without: "NATS")
    }
  #endif
}
