import Foundation
public import FoundationNetworking
import Glibc
import PandoFixtures

/// A running service, in a process of its own.
///
/// Its output is read on a thread of its own and can be waited for.
public final class ServiceProcess: @unchecked Sendable {
  // Sendable because the text is used under the condition's lock only; the rest is set once.
  private let condition = NSCondition()
  private var text = ""
  private var hasEnded = false
  private let process: ChildProcess
  /// Where it listens on this machine.
  public private(set) var port: UInt16 = 0

  /// Starts a service, and waits until it says that it is ready.
  ///
  /// - Parameters:
  ///   - program: The name of a program that was built beside the tests.
  ///   - arguments: The arguments behind the program's name.
  ///   - sign: The text that it prints when it is ready, behind its address.
  /// - Throws: When it can't be started, or ends before.
  public init(_ program: String, _ arguments: [String], until sign: String) async throws {
    process = try ChildProcess(program, arguments)
    process.closeInput()
    Thread.detachNewThread { [self] in
      while let line = process.nextLine() {
        condition.withLock { text += line + "\n" }
        condition.broadcast()
      }
      condition.withLock { hasEnded = true }
      condition.broadcast()
    }
    try await output(containing: sign)
    guard
      let port = log.firstMatch(of: /listens on .*127.0.0.1:([0-9]+),/).flatMap({ UInt16($0.1) })
    else { throw ServiceError("the service does not say where it listens: \(log)") }
    self.port = port
  }

  /// Everything printed so far.
  public var log: String { condition.withLock { text } }

  /// Waits until something has been printed.
  ///
  /// - Parameter part: What.
  /// - Throws: When the service ends before.
  public func output(containing part: String) async throws {
    let isThere = await blocking { [self] in
      condition.withLock {
        while !text.contains(part), !hasEnded { condition.wait() }
        return text.contains(part)
      }
    }
    guard isThere else { throw ServiceError("the service has not said “\(part)”: \(log)") }
  }

  /// Asks the service.
  ///
  /// - Parameters:
  ///   - method: For example `GET`.
  ///   - path: Begins with a slash.
  ///   - body: JSON; empty for none.
  ///   - fields: Header fields.
  /// - Returns: The status, a space, and the content without its last newline.
  /// - Throws: When there is no answer.
  public func ask(
    _ method: String, _ path: String, _ body: String = "", fields: [String: String] = [:]
  ) async throws -> String {
    let (response, content) = try await response(method, path, body, fields: fields)
    return
      "\(response.statusCode) \(content.hasSuffix("\n") ? String(content.dropLast()) : content)"
  }

  /// Asks the service.
  ///
  /// - Parameters:
  ///   - method: For example `GET`.
  ///   - path: Begins with a slash.
  ///   - body: JSON; empty for none.
  ///   - fields: Header fields.
  /// - Returns: The head and the content of its answer.
  /// - Throws: When there is no answer.
  public func response(
    _ method: String, _ path: String, _ body: String = "", fields: [String: String] = [:]
  ) async throws -> (HTTPURLResponse, String) {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      throw ServiceError("\(path) is no path")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    if !body.isEmpty { request.httpBody = Data(body.utf8) }
    let configuration = URLSessionConfiguration.ephemeral
    // A day: whether there is an answer does not depend on how busy the machine is.
    configuration.timeoutIntervalForRequest = 86_400
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    guard let response = response as? HTTPURLResponse else {
      throw ServiceError("the answer to \(path) is none of HTTP")
    }
    return (response, String(decoding: data, as: UTF8.self))
  }

  /// Sends SIGTERM and waits for the end, and until all it has printed is here.
  ///
  /// - Returns: The exit status, negative for a signal.
  public func terminate() async -> Int32 {
    process.send(SIGTERM)
    return await blocking { [self] in
      condition.withLock { while !hasEnded { condition.wait() } }
      return process.wait()
    }
  }
}

/// A service that does not do what every service does.
public struct ServiceError: Error, CustomStringConvertible {
  /// The missing effect.
  public let description: String

  init(_ description: String) { self.description = description }
}
