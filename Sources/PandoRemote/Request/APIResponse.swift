public import FoundationEssentials
public import PandoModels

/// The answer of a server.
///
/// ```swift
/// let answer = try await queue.send(APIRequest(.get, "/books/7"))
/// if answer.isSuccess { print(String(decoding: answer.body, as: UTF8.self)) }
/// ```
public struct APIResponse: Hashable, Sendable {
  /// The status code, for example 200.
  public var status: Int
  /// The header fields.
  public var headers: APIHeaders
  /// The content.
  public var body: Data
  /// Whether it is a kept answer that the server has confirmed with 304.
  public var isUnchanged = false
  /// The commit number of the store when a read was sent or another request was queued; `.zero` without a store.
  public var commitNumber = CommitNumber.zero

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - body: The content.
  public init(status: Int, headers: APIHeaders = [:], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether the status is 200 to 299.
  public var isSuccess: Bool { (200..<300).contains(status) }
}
