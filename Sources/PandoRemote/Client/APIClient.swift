/// What carries requests to a server and brings its answers back.
///
/// ```swift
/// struct PipeClient: APIClient {
///   func send(_ request: APIRequest) async throws -> APIResponse {
///     let answer = try await pipe.ask("\(request.method) \(request.target)", request.body?.bytes)
///     return APIResponse(status: answer.status, body: answer.content)
///   }
/// }
/// ```
///
/// `URLSessionAPIClient` does it over HTTP; another transport needs ``send(_:)`` alone. Retrying,
/// sharing equal requests, asking for changes only and reading the answer are done above it, for
/// every transport alike. Several tasks may call it at the same time.
public protocol APIClient: Sendable {
  /// The name of the server among those that one store has requests for; `default` unless declared.
  ///
  /// It is stored with every queued request, so it must stay the same from start to start.
  var identifier: String { get }

  /// How many requests that change something are on their way at the same time at most; 4 unless
  /// declared.
  var laneCountMaximum: Int { get }

  /// Completes a request before each attempt: with what can have changed since it was queued, such as
  /// a token.
  ///
  /// - Parameter request: The request as it was made.
  /// - Returns: The request as it is sent; by default unchanged.
  /// - Throws: An ``APIError`` if it can't be sent.
  func prepareRequest(_ request: APIRequest) async throws -> APIRequest

  /// Sends a request and waits for the whole answer, whatever its status is.
  ///
  /// It ends when the task is cancelled: closing a queue waits for that, so that nothing of it can reach the
  /// server later than what another queue sends.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer.
  /// - Throws: An ``APIError``: `connectionLost` or `timedOut` when no whole answer came; an error of
  ///   another type counts as `connectionLost`. `CancellationError` if the task was cancelled.
  func send(_ request: APIRequest) async throws -> APIResponse

  /// Reads the content of an answer that says no.
  ///
  /// - Parameters:
  ///   - response: An answer whose status is no success.
  ///   - request: What it answers.
  /// - Returns: An error in the words of the API; `nil` (the default) to quote the content.
  func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)?
}

extension APIClient {
  /// `default`.
  public var identifier: String { "default" }

  /// 4.
  public var laneCountMaximum: Int { 4 }

  /// The request as it is.
  ///
  /// - Parameter request: The request.
  /// - Returns: The same.
  /// - Throws: Nothing.
  public func prepareRequest(_ request: APIRequest) async throws -> APIRequest { request }

  /// Nothing: the content is quoted.
  ///
  /// - Parameters:
  ///   - response: An answer whose status is no success.
  ///   - request: What it answers.
  /// - Returns: `nil`.
  public func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)? { nil }
}
