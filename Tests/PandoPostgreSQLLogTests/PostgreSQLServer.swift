#if PostgreSQL
  import Foundation
  import Glibc
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication

  @testable import PandoPostgreSQLLog

  /// A server of PostgreSQL in a folder of its own, on a Unix socket and on loopback.
  final class PostgreSQLServer: @unchecked Sendable {
    // Sendable because one test starts and ends it, from one thread.
    struct Failure: Error { let words: String }

    /// Where its programs are; `nil` if it is not installed.
    static let programs: String? = {
      let all = "/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: all)) ?? []
      return versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(all)/\($0)/bin" }
        .first { access("\($0)/postgres", X_OK) == 0 && access("\($0)/initdb", X_OK) == 0 }
    }()

    static var isThere: Bool { programs != nil }

    /// The password of the role `postgres`, which it needs on loopback only.
    static let password = "secret word"

    let folder: String
    private(set) var port: Int
    private let settings: [String]
    private var process: ChildProcess?

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - folder: An empty folder.
    ///   - settings: Settings that it has beside, as `name=value`.
    ///   - hosts: The lines of `pg_hba.conf`, if they are others.
    /// - Throws: What keeps it from starting.
    init(in folder: String, settings: [String] = [], hosts: String? = nil) throws {
      self.folder = folder
      self.settings = settings
      port = try freePort()
      let template = try Self.template.get()
      // It does not run as root, and has to come to its folder.
      chmod(folder, 0o711)
      try Self.run("/bin/cp", ["-a", "\(template)/data", "\(folder)/data"])
      if let hosts {
        try "\(hosts)\n".write(
          toFile: "\(folder)/data/pg_hba.conf", atomically: false, encoding: .utf8)
      }
      try "\(Self.password)\n".write(
        toFile: "\(folder)/password", atomically: false, encoding: .utf8)
      mkdir("\(folder)/socket", 0o700)
      Self.hand("\(folder)/socket")
      try start()
    }

    deinit { kill() }

    /// How a log on it is configured, over the socket.
    func configuration(log: String = "log") -> PostgreSQLLogConfiguration {
      var configuration = PostgreSQLLogConfiguration(
        servers: ["\(folder)/socket:\(port)"], database: "postgres", user: "postgres", log: log)
      configuration.makesTables = true
      // Long enough for a busy machine; nothing waits for it in vain.
      configuration.requestTimeoutInMilliseconds = 60_000
      return configuration
    }

    /// How a log on it is configured, over loopback.
    func hostConfiguration() -> PostgreSQLLogConfiguration {
      var configuration = configuration()
      configuration.servers = ["127.0.0.1:\(port)"]
      configuration.credentials = .passwordFile("\(folder)/password")
      return configuration
    }

    /// How the logs of the common tests are configured.
    var adjust: (inout PostgreSQLLogConfiguration) -> Void = { _ in }

    /// A connection for a test alone.
    func connect() throws -> PostgreSQLConnection {
      let configuration = configuration()
      return try PostgreSQLConnection(
        LogAddress(postgreSQL: configuration.servers[0]), configuration, PostgreSQLWake(),
        until: .max)
    }

    /// Asks again and again until a statement gives a number.
    func wait(for number: Int64, from statement: String) throws {
      let connection = try connect()
      while try connection.run(statement, until: .max).number(0, 0) != number {}
    }

    /// Runs statements, as an operator does.
    ///
    /// - Returns: The number that the last one gives.
    @discardableResult
    func run(_ statements: String...) throws -> Int64? {
      let deadline = Int64.max
      let connection = try connect()
      var number: Int64?
      for statement in statements {
        let rows = try connection.run(statement, until: deadline)
        number = rows.isEmpty ? nil : rows.number(0, 0)
      }
      return number
    }
  }

  extension PostgreSQLServer: LogServer {
    func makeLog() throws -> any ReplicationLog {
      var configuration = configuration()
      adjust(&configuration)
      return try PostgreSQLLog(configuration)
    }

    func start() throws {
      while try !start(at: port) { port = try freePort() }
    }

    /// - Returns: `false` if somebody else has taken the port.
    private func start(at port: Int) throws -> Bool {
      guard let programs = Self.programs else { return true }
      var arguments = [
        "-D", "\(folder)/data", "-c", "port=\(port)", "-c", "listen_addresses=127.0.0.1", "-c",
        "unix_socket_directories=\(folder)/socket", "-c", "shared_buffers=16MB",
        "-c", "log_min_messages=log", "-c", "log_checkpoints=off",
      ]
      for setting in settings { arguments += ["-c", setting] }
      let (program, leading) = Self.asOther("\(programs)/postgres")
      while true {
        // Nobody reads more than that: errors would fill the pipe in the end.
        let process = try ChildProcess(
          "/bin/sh", ["-c", "exec \"$@\" 2>&1", "sh", program] + leading + arguments)
        var words: [String] = []
        while let line = process.nextLine() {
          words.append(line)
          guard line.contains("ready to accept connections") else { continue }
          self.process = process
          return true
        }
        if words.contains(where: { $0.contains("could not bind") }) { return false }
        // What was killed may have its memory a little longer.
        guard words.contains(where: { $0.contains("shared memory") }) else {
          throw Failure(words: words.joined(separator: "; "))
        }
      }
    }

    /// Kills it with all its processes.
    func kill() {
      guard let process else { return }
      let all = children(of: process)
      process.kill()
      for child in all { Glibc.kill(child, SIGKILL) }
      for child in all {
        while let state = state(of: child), state != "Z" { sched_yield() }
      }
      self.process = nil
    }

    func stop() { signal(SIGSTOP, until: "T") }

    func go() { signal(SIGCONT, until: nil) }

    func forget(before position: UInt64) throws {
      try run("DELETE FROM pando.log_messages WHERE position < \(position)")
    }

    func keep() throws {
      kill()
      try Self.run("/bin/cp", ["-a", "\(folder)/data", "\(folder)/kept"])
      try start()
    }

    func rewind() throws {
      kill()
      try FileManager.default.removeItem(atPath: "\(folder)/data")
      try Self.run("/bin/cp", ["-a", "\(folder)/kept", "\(folder)/data"])
      try start()
    }

    func remove() throws { try run("DROP SCHEMA pando CASCADE") }

    private func signal(_ signal: Int32, until wanted: String?) {
      guard let process else { return }
      process.send(signal)
      for child in children(of: process) {
        Glibc.kill(child, signal)
        // One that has just ended stays so: who would take note of it stands still.
        while let wanted, let state = state(of: child), state != wanted, state != "Z" {
          sched_yield()
        }
      }
    }

    private func children(of process: ChildProcess) -> [Int32] {
      let path = "/proc/\(process.identifier)/task/\(process.identifier)/children"
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { Int32($0) }
    }

    /// The letter of a process's state; `nil` if there is none.
    private func state(of process: Int32) -> String? {
      let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      return text?.split(separator: ")").last.map { String($0.dropFirst().prefix(1)) }
    }
  }

  extension PostgreSQLServer {
    /// A folder with a fresh database, which each server has a copy of; it is removed when the tests end.
    private static let template = Result<String, any Error> {
      guard let programs else { throw Failure(words: "PostgreSQL is not installed") }
      var name = Array("/tmp/pando-postgres-XXXXXX".utf8CString)
      guard mkdtemp(&name) != nil else { throw Failure(words: "mkdtemp: \(errno)") }
      let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      templateFolder = folder
      atexit {
        _ = try? FileManager.default.removeItem(atPath: PostgreSQLServer.templateFolder)
      }
      hand(folder)
      try "\(password)\n".write(toFile: "\(folder)/password", atomically: false, encoding: .utf8)
      let (program, leading) = asOther("\(programs)/initdb")
      try run(
        program,
        leading + [
          "-D", "\(folder)/data", "-U", "postgres", "--auth-local=trust", "-E", "UTF8",
          "--auth-host=scram-sha-256", "--pwfile=\(folder)/password", "--no-sync",
          "--locale=C.UTF-8", "--wal-segsize=1",
        ])
      return folder
    }

    // Written once, before the closure is there that reads it.
    nonisolated(unsafe) private static var templateFolder = ""

    /// How a program is run that refuses to run as root.
    private static func asOther(_ program: String) -> (String, [String]) {
      guard geteuid() == 0 else { return (program, []) }
      return (
        "/usr/bin/setpriv",
        ["--reuid=postgres", "--regid=postgres", "--clear-groups", program]
      )
    }

    /// Gives a folder or a file to whom the server runs as.
    static func hand(_ path: String) {
      guard geteuid() == 0, let user = getpwnam("postgres") else { return }
      chown(path, user.pointee.pw_uid, user.pointee.pw_gid)
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
      let run = try ChildProcess.run(program, arguments)
      if run.status != 0 { throw Failure(words: run.errors) }
    }
  }

  /// A port that nobody listens at.
  private func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(descriptor, $0, length)
        _ = getsockname(descriptor, $0, &length)
      }
    }
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  extension PostgreSQLLog {
    /// Lets go of what is too old, or too much, now.
    func trim() throws {
      try link.repeating("") { connection, _ in try tables.trim(connection) { .max } }
    }
  }

  /// Runs a closure with a server of its own.
  func withServer<Result>(
    settings: [String] = [], hosts: String? = nil, _ body: (PostgreSQLServer) throws -> Result
  ) throws -> Result {
    try withTemporaryDirectory { folder in
      let server = try PostgreSQLServer(in: folder, settings: settings, hosts: hosts)
      defer { server.kill() }
      return try body(server)
    }
  }
#endif
