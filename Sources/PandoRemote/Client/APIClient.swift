/// A transport that sends requests to a server and returns the answers.
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
/// `URLSessionAPIClient` uses HTTP; another transport only needs ``send(_:)``. The queue sends again after failures,
/// shares equal reads, makes reads conditional and reads the answers, for every transport. Several tasks may call a
/// client at the same time.
public protocol APIClient: Sendable {
  /// The name of the server among the servers of one store; `default` unless declared.
  ///
  /// Every queued request stores it, so it must stay the same after a restart.
  var identifier: String { get }

  /// The maximum number of requests that change data and are sent at the same time; 4 unless declared.
  var laneCountMaximum: Int { get }

  /// Completes a request before each attempt, for example with a new token.
  ///
  /// - Parameter request: The request as it was made.
  /// - Returns: The request to send; by default unchanged.
  /// - Throws: An ``APIError`` if it can't be sent.
  func prepareRequest(_ request: APIRequest) async throws -> APIRequest

  /// Sends a request and waits for the whole answer, with any status.
  ///
  /// It must end when the task is cancelled. A queue that is closed waits for that, so that none of its requests
  /// reaches the server after those of the next queue.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer.
  /// - Throws: An ``APIError``: `connectionLost` or `timedOut` if no whole answer arrives; an error of
  ///   another type counts as `connectionLost`. `CancellationError` if the task was cancelled.
  func send(_ request: APIRequest) async throws -> APIResponse

  /// Converts the content of an error answer to an error.
  ///
  /// - Parameters:
  ///   - response: An answer without success.
  ///   - request: The request.
  /// - Returns: An error of the API; `nil` (the default) to quote the content.
  func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)?
}

extension APIClient {
  /// `default`.
  public var identifier: String { "default" }

  /// 4.
  public var laneCountMaximum: Int { 4 }

  /// Returns the request unchanged.
  ///
  /// - Parameter request: The request.
  /// - Returns: The same.
  /// - Throws: Nothing.
  public func prepareRequest(_ request: APIRequest) async throws -> APIRequest { request }

  /// Returns `nil`: the error quotes the content.
  ///
  /// - Parameters:
  ///   - response: An answer without success.
  ///   - request: The request.
  /// - Returns: `nil`.
  public func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)? { nil }
}
