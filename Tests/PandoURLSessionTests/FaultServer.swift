import Foundation
import PandoFixtures
import PandoManagers
import PandoSystem
import PandoURLSession

@testable import PandoManagersFixtures

/// A server in a process of its own: the program `HTTPTestProcess`.
final class FaultServer: Sendable {
  private let process: Locked<ChildProcess>
  private let directory: TemporaryStoreDirectory
  let port: Int

  init() throws {
    directory = try TemporaryStoreDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    let process = try ChildProcess("PandoHTTPTestProcess", [directory.path])
    port = process.nextLine().flatMap { Int($0) } ?? 0
    self.process = Locked(process)
  }

  deinit {
    process.withLock { $0.kill() }
    directory.remove()
  }

  /// Runs `body` with a server and a client of it.
  static func with(
    configure: (inout URLSessionAPIClient.Configuration) -> Void = { _ in },
    _ body: (FaultServer, URLSessionAPIClient) async throws -> Void
  ) async throws {
    let server = try await blocking { try FaultServer() }
    try await body(server, server.client(configure: configure))
  }

  func client(
    host: String = "127.0.0.1",
    configure: (inout URLSessionAPIClient.Configuration) -> Void = { _ in }
  ) throws -> URLSessionAPIClient {
    var configuration = URLSessionAPIClient.Configuration()
    // The server answers or closes the connection; how long that takes says nothing.
    configuration.timeoutInSeconds = 1_000_000
    configuration.totalTimeoutInSeconds = nil
    configure(&configuration)
    guard let url = URL(string: "http://\(host):\(port)") else { throw POSIXError(.EINVAL) }
    return URLSessionAPIClient(baseURL: url, configuration: configuration)
  }

  /// Waits for the next line of the server: a request with its key, or what it says of a fault.
  func line() async -> String? {
    let process = process.withLock { $0 }
    return await blocking { process.nextLine() }
  }

  /// Kills the server as a crash would.
  func kill() async {
    let process = process.withLock { $0 }
    await blocking { process.kill() }
  }

  /// Starts it again, on the same port.
  func restart() async throws {
    let arguments = [directory.path, "\(port)"]
    let started = try await blocking {
      let started = try ChildProcess("PandoHTTPTestProcess", arguments)
      _ = started.nextLine()
      return started
    }
    process.withLock { $0 = started }
  }

  /// What has been applied, in order: key and content.
  func applied() throws -> [(key: String, content: String)] {
    let path = directory.path + "/applied"
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      return (words[0], words.count > 1 ? words[1] : "")
    }
  }
}
