#if NATS
  import Foundation
  import Glibc
  import PandoLMDB
  import PandoNATSLog

  /// Three servers of NATS with JetStream on this machine, which keep a log together.
  final class NATSCluster {
    private let directory: WorkingDirectory
    let durability: Durability
    private var processes: [Process?] = [nil, nil, nil]
    private let ports: [Int]

    /// Starts them.
    ///
    /// - Parameters:
    ///   - directory: Where they keep their files.
    ///   - durability: The level of the machines' stores, beside the log.
    /// - Throws: ``BenchmarkError`` if there is no `nats-server`.
    init(in directory: WorkingDirectory, durability: Durability) throws {
      (self.directory, self.durability) = (directory, durability)
      ports = (0..<6).map { _ in Self.freePort() }
      for index in processes.indices { try start(index) }
    }

    deinit {
      for index in processes.indices { kill(index) }
    }

    var addresses: [String] { ports.prefix(3).map { "nats://127.0.0.1:\($0)" } }

    /// The version of `nats-server`; `nil` if it is not there.
    static let version: String? = {
      guard let program, let output = try? run(program, ["-v"]) else { return nil }
      return output.split(separator: "v").last.map {
        $0.trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }()

    /// Makes a connection to the log of a name.
    func log(_ name: String) throws -> NATSLog {
      // A cluster takes a while to find itself.
      let end = ContinuousClock.now + .seconds(30)
      var configuration = NATSLogConfiguration(servers: addresses, stream: name)
      configuration.makesStream = true
      while true {
        do {
          return try NATSLog(configuration)
        } catch {
          guard ContinuousClock.now < end else { throw error }
        }
      }
    }

    /// Kills a server, as a crash would.
    func kill(_ index: Int) {
      guard let process = processes[index] else { return }
      Glibc.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      processes[index] = nil
    }

    /// Which server leads the stream of a log.
    func leader(of log: String) throws -> Int {
      for index in processes.indices where processes[index] != nil {
        let folder = "\(directory.path)/\(index)"
        let text = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
        let leads = text.split(separator: "\n").last {
          $0.contains("JetStream cluster new stream leader for '$G > \(log)'")
            || $0.contains("JetStream cluster no longer stream leader for '$G > \(log)'")
        }
        if leads?.contains("new stream leader") == true { return index }
      }
      return 0
    }

    func start(_ index: Int) throws {
      guard let program = Self.program else {
        throw BenchmarkError(.system, "nats-server is not here: apt-get install nats-server")
      }
      let folder = "\(directory.path)/\(index)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let routes = ports.suffix(3).map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
      try """
      listen: "127.0.0.1:\(ports[index])"
      server_name: "s\(index)"
      log_file: "\(folder)/log"
      jetstream { store_dir: "\(folder)/js", max_mem: 64M, max_file: 256G }
      cluster { name: bench, listen: "127.0.0.1:\(ports[index + 3])", routes: [\(routes)] }
      """.write(toFile: "\(folder)/conf", atomically: false, encoding: .utf8)
      let process = Process()
      process.executableURL = program
      process.arguments = ["-c", "\(folder)/conf"]
      process.standardError = FileHandle.nullDevice
      try process.run()
      processes[index] = process
    }

    private static let program: URL? = {
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      return (path.split(separator: ":").map(String.init) + ["/usr/sbin"])
        .map { URL(fileURLWithPath: "\($0)/nats-server") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    private static func run(_ program: URL, _ arguments: [String]) throws -> String {
      let (process, output) = (Process(), Pipe())
      process.executableURL = program
      process.arguments = arguments
      process.standardOutput = output
      try process.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: bytes, as: UTF8.self)
    }

    private static func freePort() -> Int {
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
  }
#endif
