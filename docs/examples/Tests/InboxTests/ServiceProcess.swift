import Foundation
import FoundationNetworking
import Glibc
import PandoFixtures
import Testing

/// A running `inbox --serve`.
///
/// What it prints is read on a thread of its own and can be waited for.
final class ServiceProcess: @unchecked Sendable {
  // Sendable because the text is used under the condition's lock only; the rest is set once.
  private let condition = NSCondition()
  private var text = ""
  private var hasEnded = false
  private let process: ChildProcess
  private(set) var port: UInt16 = 0

  /// Starts the service, and waits until it has fetched everything.
  init(directory: String, _ options: String...) async throws {
    process = try ChildProcess("inbox", ["--serve", "--directory", directory] + options)
    process.closeInput()
    Thread.detachNewThread { [self] in
      while let line = process.nextLine() {
        condition.withLock { text += line + "\n" }
        condition.broadcast()
      }
      condition.withLock { hasEnded = true }
      condition.broadcast()
    }
    try await output(containing: "has fetched everything")
    let line = try #require(log.split(separator: "\n").first { $0.contains("listens on") })
    port = try #require(line.firstMatch(of: /127.0.0.1:([0-9]+),/).flatMap { UInt16($0.1) })
  }

  /// Everything printed so far.
  var log: String { condition.withLock { text } }

  /// Waits until something has been printed.
  func output(containing part: String) async throws {
    let isThere = await blocking { [self] in
      condition.withLock {
        while !text.contains(part), !hasEnded { condition.wait() }
        return text.contains(part)
      }
    }
    try #require(isThere, "the service has not said “\(part)”: \(log)")
  }

  /// Asks the service.
  ///
  /// - Parameters:
  ///   - method: For example `GET`.
  ///   - path: Begins with a slash.
  ///   - body: JSON; empty for none.
  /// - Returns: The status, a space, and the content without its last newline.
  /// - Throws: When there is no answer.
  func ask(_ method: String, _ path: String, _ body: String = "") async throws -> String {
    let (response, content) = try await response(method, path, body)
    return
      "\(response.statusCode) \(content.hasSuffix("\n") ? String(content.dropLast()) : content)"
  }

  /// Asks the service, and returns the head and the content of its answer.
  func response(
    _ method: String, _ path: String, _ body: String = ""
  ) async throws -> (HTTPURLResponse, String) {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    request.httpMethod = method
    if !body.isEmpty { request.httpBody = Data(body.utf8) }
    let configuration = URLSessionConfiguration.ephemeral
    // A day: whether there is an answer does not depend on how busy the machine is.
    configuration.timeoutIntervalForRequest = 86_400
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    return (try #require(response as? HTTPURLResponse), String(decoding: data, as: UTF8.self))
  }

  /// Sends SIGTERM and waits for the end, and until all it has printed is here.
  ///
  /// - Returns: The exit status, negative for a signal.
  func terminate() async throws -> Int32 {
    process.send(SIGTERM)
    return await blocking { [self] in
      condition.withLock { while !hasEnded { condition.wait() } }
      return process.wait()
    }
  }
}

/// A shell in which `inbox` is the service.
enum Shell {
  /// The service lies beside the tests.
  static let inboxPath = "\(ChildProcess.productFolder)/inbox"

  /// Whether there is a curl; the tests with it are left out where there is none.
  static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

  /// Runs a line to its end.
  static func run(_ line: String) async throws -> ChildProcess.Run {
    try await blocking {
      try ChildProcess.run("/bin/bash", ["-c", "inbox() { '\(inboxPath)' \"$@\"; }; \(line)"])
    }
  }
}

/// Runs `body` with a service that is ended by SIGTERM afterwards, which it must do in order.
///
/// - Parameter body: Gets the service and the directory of its store.
/// - Throws: What `body` throws.
func withService(
  _ body: (ServiceProcess, String) async throws -> Void
) async throws {
  try await withTemporaryDirectory { directory in
    let service = try await ServiceProcess(directory: directory)
    do {
      try await body(service, directory)
    } catch {
      _ = try? await service.terminate()
      throw error
    }
    #expect(try await service.terminate() == 0)
    #expect(service.log.hasSuffix("has closed its store in order\n"), "\(service.log)")
  }
}
