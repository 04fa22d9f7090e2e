import Foundation
import FoundationNetworking
import MicroHTTP

/// Fetches from the network.
final class Network: Sendable {
  /// How long an answer may take; a server on this machine answers, however busy it is.
  private static let timeoutInSeconds = 600.0

  private let session: URLSession
  private let port: UInt16

  /// Makes a client.
  ///
  /// - Parameter port: Where the backend listens on this machine.
  init(port: UInt16) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = Self.timeoutInSeconds
    session = URLSession(configuration: configuration)
    self.port = port
  }

  /// Fetches a message.
  func message(_ id: Int) async throws -> Message {
    try decoded(Message.self, await send("GET", "/messages/\(id)"))
  }

  /// Fetches the contacts.
  func contacts() async throws -> [Person] {
    try decoded([Person].self, await send("GET", "/contacts"))
  }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - method: For example `GET`.
  ///   - path: Begins with a slash.
  ///   - body: JSON; empty for none.
  /// - Returns: The content of the answer.
  /// - Throws: ``NetworkError`` if the answer is no success, and what the URL loading system throws.
  @discardableResult
  func send(_ method: String, _ path: String, _ body: Data = Data()) async throws -> Data {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      throw NetworkError("\(path) is no path")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if !body.isEmpty { request.httpBody = body }
    let (data, response) = try await session.data(for: request)
    guard let status = (response as? HTTPURLResponse)?.statusCode, status < 400 else {
      throw NetworkError("\(method) \(path): " + String(decoding: data, as: UTF8.self))
    }
    return data
  }

  /// Gives up what is under way and ends.
  func stop() { session.invalidateAndCancel() }

  private func decoded<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    try JSONDecoder().decode(type, from: data)
  }
}

/// An answer that was no success.
struct NetworkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The far side of the network: the server that the service fetches its data from.
///
/// It has one message and a list of contacts. The two do not agree about Ada, who came online after
/// the message was written; the story shows what follows from that.
final class Backend: Sendable {
  /// Holds its answers back.
  let gate = Gate()
  private let server: HTTPServer

  /// The port it listens on.
  var port: UInt16 { server.port }

  /// Begins to answer.
  ///
  /// - Parameter isAway: Whether it answers that it can't answer.
  /// - Throws: ``PortError`` when there is no port left.
  init(isAway: Bool = false) throws(PortError) {
    server = try HTTPServer(port: 0) { [gate] request in
      let path = "/" + request.path.joined(separator: "/")
      await gate.pass(path)
      if isAway { throw HTTPError(503, "away") }
      return try Self.response(to: path)
    }
  }

  /// Lets what is held go, and ends.
  func stop() async {
    await gate.releaseAll()
    await server.stop()
  }

  private static func response(to path: String) throws(HTTPError) -> HTTPResponse {
    switch path {
    case "/messages/\(message.id)": return HTTPResponse(message)
    case "/contacts": return HTTPResponse(contacts)
    default: throw HTTPError(404, "the network has nothing at \(path)")
    }
  }
}

extension Backend {
  static let ada = Person(id: 12, name: "Ada", isOnline: false)
  static let grace = Person(id: 13, name: "Grace", isOnline: true)
  static let alan = Person(id: 14, name: "Alan", isOnline: false)
  static let linus = Person(id: 15, name: "Linus", isOnline: false)

  /// The message, as it was written: Ada is offline.
  static let message = Message(id: 34, title: "Lunch?", author: ada, readers: [grace, linus])

  /// The message before Ada changed it.
  static let outdatedMessage = Message(id: 34, title: "Breakfast?", author: ada, readers: [])

  /// The contacts, as they are: Ada is online.
  static let contacts = [Person(id: ada.id, name: ada.name, isOnline: true), grace, alan]
}

/// Holds answers of the network back until the story releases them.
///
/// With it, who comes first is decided and not left to chance.
actor Gate {
  private var heldPaths: Set<String> = []
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// From now on, answers for a path wait.
  func hold(_ path: String) { heldPaths.insert(path) }

  /// Lets the answers for a path go, those that wait and all that follow.
  func release(_ path: String) {
    heldPaths.remove(path)
    for continuation in waiting.removeValue(forKey: path) ?? [] { continuation.resume() }
  }

  /// Lets everything go.
  func releaseAll() {
    for path in heldPaths.union(waiting.keys) { release(path) }
  }

  /// Waits while a path is held.
  func pass(_ path: String) async {
    guard heldPaths.contains(path) else { return }
    await withCheckedContinuation { waiting[path, default: []].append($0) }
  }
}
