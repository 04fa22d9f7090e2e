public import FoundationEssentials
public import PandoModels

/// The answer of a server.
///
/// ```swift
/// let answer = try await queue.send(APIRequest(.get, "/books/7"))
/// if answer.isSuccess { print(String(decoding: answer.body, as: UTF8.self)) }
/// ```
public struct APIResponse: Hashable, Sendable {
  /// The status code, as 200.
  public var status: Int
  /// The header fields.
  public var headers: APIHeaders
  /// The content.
  public var body: Data
  /// Whether the server said that what was kept from an earlier answer still holds (304).
  public var isUnchanged = false
  /// The commit number that the answer is as old as; `.zero` without a store.
  ///
  /// It is that of the store when the request was sent, or, for one that changes something, when it was
  /// queued.
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

  /// Whether the status is one of success.
  public var isSuccess: Bool { (200..<300).contains(status) }
}
