#if NATS
  import Foundation
  import Glibc
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication

  @testable import PandoNATSLog

  /// One `nats-server` with JetStream, or three that are a cluster, in a folder of their own.
  final class TestServers: @unchecked Sendable {
    // Sendable because one test starts and ends servers, from one thread.
    struct Member {
      let port: Int
      let monitorPort: Int
      let folder: String
      var process: ChildProcess?
    }

    /// Where the program is: `PANDO_NATS_SERVER`, or what is installed; `nil` if none is.
    static let program: String? = {
      if let given = ProcessInfo.processInfo.environment["PANDO_NATS_SERVER"] { return given }
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/bin"]
      return folders.map { "\($0)/nats-server" }.first { access($0, X_OK) == 0 }
    }()

    /// Its version, for example 2, 9, 10.
    static let version: [Int]? = program.flatMap { program in
      // nats-server: v2.9.10
      (try? ChildProcess.run(program, ["--version"]))?.output.split(separator: "v").last.flatMap {
        NATSPromises.version(in: "\"version\":\"\($0)\"")
      }
    }

    static var isThere: Bool { program != nil }

    /// Whether every test runs over TLS.
    private static let encryptsAll = ProcessInfo.processInfo.environment["PANDO_TEST_TLS"] != nil

    private(set) var members: [Member] = []
    private let scheme: String
    /// What the configuration of a log has beside.
    var tls: LogTLS?

    /// Starts servers.
    ///
    /// - Parameters:
    ///   - count: How many; more than one are a cluster.
    ///   - folder: An empty folder.
    ///   - settings: What the configuration of each has beside.
    ///   - jetStream: What that of JetStream has beside.
    ///   - scheme: What their addresses begin with.
    /// - Throws: What keeps them from starting.
    ///
    /// With `PANDO_TEST_TLS` in the environment they speak TLS only, and want to see a certificate.
    init(
      _ count: Int, in folder: String, settings: String = "", jetStream: String = "",
      scheme: String = "nats"
    ) throws {
      let isEncrypted = scheme == "nats" && Self.encryptsAll
      self.scheme = isEncrypted ? "tls" : scheme
      var settings = settings
      if isEncrypted {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true)
        let certificates = try TestCertificates(in: folder)
        settings += "\n" + certificates.settings
        tls = certificates.tls
      }
      let ports = try Self.freePorts(3 * count)
      for index in 0..<count {
        let own = "\(folder)/\(index)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        let routes = ports[count..<2 * count].map { "\"nats://127.0.0.1:\($0)\"" }.joined(
          separator: ", ")
        let cluster = """
          cluster { name: test, listen: "127.0.0.1:\(ports[count + index])", routes: [\(routes)] }
          """
        let text = """
          listen: "127.0.0.1:\(ports[index])"
          http: "127.0.0.1:\(ports[2 * count + index])"
          server_name: "s\(index)"
          log_file: "\(own)/log"
          jetstream { store_dir: "\(own)/js", max_mem: 64M, max_file: 64G, \(jetStream) }
          \(count > 1 ? cluster : "")
          \(settings)
          """
        try text.write(toFile: "\(own)/server.conf", atomically: false, encoding: .utf8)
        members.append(
          Member(port: ports[index], monitorPort: ports[2 * count + index], folder: own))
      }
      for index in members.indices { try start(index) }
    }

    /// Starts a server, and waits until it answers.
    func start(_ index: Int) throws {
      guard let program = Self.program else { return }
      members[index].process = try ChildProcess(
        program, ["-c", "\(members[index].folder)/server.conf"])
      while !isListening(index) { sched_yield() }
    }

    func kill(_ index: Int) {
      members[index].process?.kill()
      members[index].process = nil
    }

    /// Lets a server stand still; it does when this returns.
    func stop(_ index: Int) {
      guard let process = members[index].process else { return }
      process.send(SIGSTOP)
      let path = "/proc/\(process.identifier)/stat"
      while (try? String(contentsOfFile: path, encoding: .utf8))?.contains(") T ") == false {
        sched_yield()
      }
    }

    /// Lets it go on.
    func go(_ index: Int) { members[index].process?.send(SIGCONT) }

    /// Ends all.
    func end() {
      for index in members.indices { kill(index) }
    }

    var urls: [String] { members.map { "\(scheme)://127.0.0.1:\($0.port)" } }

    /// How a log on them is configured.
    func configuration(stream: String = "log") -> NATSLogConfiguration {
      var configuration = NATSLogConfiguration(servers: urls, stream: stream)
      configuration.replicas = members.count
      configuration.tls = tls
      configuration.makesStream = true
      // Long enough for a busy machine; nothing waits for it in vain.
      configuration.requestTimeoutInMilliseconds = 60_000
      return configuration
    }

    private func isListening(_ index: Int) -> Bool {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = Self.address(members[index].port)
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, length) == 0
        }
      }
      var byte: UInt8 = 0
      return isConnected && recv(descriptor, &byte, 1, 0) == 1
    }

    private static func address(_ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      return address
    }

    /// Ports that nobody listens at.
    private static func freePorts(_ count: Int) throws -> [Int] {
      var descriptors: [Int32] = []
      defer { for descriptor in descriptors { close(descriptor) } }
      return (0..<count).map { _ in
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors.append(descriptor)
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = bind(descriptor, $0, length)
            _ = getsockname(descriptor, $0, &length)
          }
        }
        return Int(in_port_t(bigEndian: address.sin_port))
      }
    }
  }

  /// One server, as the tests use it that every log has to pass.
  extension TestServers: LogServer {
    func makeLog() throws -> any ReplicationLog { try NATSLog(configuration()) }
    func kill() { kill(0) }
    func start() throws { try start(0) }
    func stop() { stop(0) }
    func go() { go(0) }

    func forget(before position: UInt64) throws {
      try ask("STREAM.PURGE.log", "{\"seq\":\(position)}")
    }

    func keep() throws {
      kill()
      try? FileManager.default.removeItem(atPath: "\(members[0].folder)/kept")
      try FileManager.default.copyItem(
        atPath: "\(members[0].folder)/js", toPath: "\(members[0].folder)/kept")
      try start()
    }

    func rewind() throws {
      kill()
      try FileManager.default.removeItem(atPath: "\(members[0].folder)/js")
      try FileManager.default.copyItem(
        atPath: "\(members[0].folder)/kept", toPath: "\(members[0].folder)/js")
      try start()
    }

    func remove() throws {
      let answer = try ask("STREAM.NAMES")
      for stream in ["log", "log-snapshots"] where answer.contains("\"\(stream)\"") {
        try ask("STREAM.DELETE.\(stream)")
      }
    }

    @discardableResult
    private func ask(_ subject: String, _ text: String = "") throws -> String {
      let log = try NATSLog(configuration())
      defer { log.close() }
      return try log.ask(subject, text)
    }
  }

  /// Runs a closure with servers of its own.
  func withServers<Result>(
    _ count: Int = 1, settings: String = "", jetStream: String = "", scheme: String = "nats",
    _ body: (TestServers) throws -> Result
  ) throws -> Result {
    try withTemporaryDirectory { folder in
      let servers = try TestServers(
        count, in: folder, settings: settings, jetStream: jetStream, scheme: scheme)
      defer { servers.end() }
      return try body(servers)
    }
  }
#endif
