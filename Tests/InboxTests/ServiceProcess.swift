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
  private(set) var port = 0
  private var processIdentifier: pid_t = 0

  /// Starts the service, and waits until it has fetched everything.
  init(directory: String) async throws {
    // `timeout` passes the status on, and ends what a test that was killed leaves behind.
    process = try ChildProcess(
      "/usr/bin/timeout", ["300", Shell.inboxPath, "--serve", "--directory", directory])
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
    let numbers = line.matches(of: /127.0.0.1:([0-9]+), process ([0-9]+),/).first
    port = try #require(numbers.flatMap { Int($0.1) })
    processIdentifier = try #require(numbers.flatMap { pid_t($0.2) })
  }

  /// Everything printed so far.
  var log: String { condition.withLock { text } }

  /// Waits until something has been printed.
  func output(containing part: String) async throws {
    // Not for ever: `timeout` ends the service.
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
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    request.httpMethod = method
    if !body.isEmpty { request.httpBody = Data(body.utf8) }
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    let status = try #require(response as? HTTPURLResponse).statusCode
    let content = String(decoding: data, as: UTF8.self)
    return "\(status) \(content.hasSuffix("\n") ? String(content.dropLast()) : content)"
  }

  /// Sends SIGTERM and waits for the end, and until all it has printed is here.
  ///
  /// - Returns: The exit status, negative for a signal.
  func terminate() async throws -> Int32 {
    kill(processIdentifier, SIGTERM)
    return await blocking { [self] in
      condition.withLock { while !hasEnded { condition.wait() } }
      return process.wait()
    }
  }
}
