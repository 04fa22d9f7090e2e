/// A request that has failed.
///
/// ```swift
/// do {
///   let answer = try await queue.send(APIRequest(.get, "/books/7"))
/// } catch let error as APIError where error.isConnectionFailure {
///   print(error)
/// }
/// ```
///
/// The description is one line: the request and why it failed.
public struct APIError: Error, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable, Codable {
    /// The name of the code.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The server is out of reach, or the connection was lost before the whole answer arrived.
    public static var connectionLost: Code { Code(rawValue: "connectionLost") }
    /// No answer arrived in time.
    public static var timedOut: Code { Code(rawValue: "timedOut") }
    /// The server has nothing at the path: 404 or 410.
    public static var notFound: Code { Code(rawValue: "notFound") }
    /// The request contradicts the state of the server: 409 or 412.
    public static var conflict: Code { Code(rawValue: "conflict") }
    /// The caller may not do this: 401 or 403.
    public static var refused: Code { Code(rawValue: "refused") }
    /// The server can't process the request: another 4xx.
    public static var badRequest: Code { Code(rawValue: "badRequest") }
    /// The server failed: a 5xx.
    public static var serverFailed: Code { Code(rawValue: "serverFailed") }
    /// The answer is not JSON, has another form than expected, or has an unexpected status.
    public static var malformedAnswer: Code { Code(rawValue: "malformedAnswer") }
    /// A later request with the same uniquing key has replaced it.
    public static var aborted: Code { Code(rawValue: "aborted") }
    /// The program has dropped it from the queue, or has removed all local data.
    public static var dropped: Code { Code(rawValue: "dropped") }
    /// Another process has removed it from the queue, with the answer to it.
    public static var answeredElsewhere: Code { Code(rawValue: "answeredElsewhere") }
    /// It names an entity that the server does not have, and no waiting request creates it.
    public static var localIdentifier: Code { Code(rawValue: "localIdentifier") }
    /// The entity type has no request for the operation.
    public static var noRequest: Code { Code(rawValue: "noRequest") }
    /// The request can't be sent as it is: for example, its path is no part of a URL.
    public static var invalidRequest: Code { Code(rawValue: "invalidRequest") }
    /// The queue is closed.
    public static var closed: Code { Code(rawValue: "closed") }
  }

  /// The kind of failure.
  public let code: Code
  /// The request, as in `GET /books/7`.
  public let request: String
  /// The cause and what to do, as half a sentence without a full stop.
  public let reason: String
  /// The status of the answer, if one arrived.
  public let status: Int?
  /// The error that ``APIClient/errorPayload(of:to:)`` has made of the answer.
  public let payload: (any Error)?
  /// The error of the layer below, if one was the cause.
  public let underlying: (any Error)?
  /// The delay before the next attempt that the server asks for, in seconds.
  public internal(set) var retryAfterInSeconds: Double?

  /// Makes an error, for transports of the program.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - request: The request.
  ///   - reason: The cause, as half a sentence without a full stop.
  ///   - status: The status of the answer, if one arrived.
  ///   - payload: The error that the content of the answer describes.
  ///   - underlying: The error of the layer below.
  public init(
    _ code: Code, _ request: APIRequest, _ reason: String, status: Int? = nil,
    payload: (any Error)? = nil, underlying: (any Error)? = nil
  ) {
    self.init(
      code, "\(request)", reason, status: status, payload: payload, underlying: underlying)
  }

  init(
    _ code: Code, _ request: String, _ reason: String, status: Int? = nil,
    payload: (any Error)? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.request = request
    self.reason = reason
    self.status = status
    self.payload = payload
    self.underlying = underlying
  }

  /// Whether no whole answer arrived; the server may have received the request.
  public var isConnectionFailure: Bool { code == .connectionLost || code == .timedOut }

  /// One line: the request and why it failed.
  public var description: String {
    let cause = (payload ?? underlying).map { ": \($0)" } ?? ""
    return "\(request): \(reason)\(cause)"
  }
}
