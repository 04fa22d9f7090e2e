import Foundation
import FoundationNetworking

/// Fetches from the network: what the seeds call the application's network manager.
final class Network: Sendable {
  /// How long an answer may take.
  private static let timeoutInSeconds = 30.0

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
