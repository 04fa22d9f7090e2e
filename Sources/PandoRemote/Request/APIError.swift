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
/// The description is one line for a person: which request, where it failed and why.
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

    /// The server can't be reached, or the connection broke before the answer was whole.
    public static var connectionLost: Code { Code(rawValue: "connectionLost") }
    /// No answer came in time.
    public static var timedOut: Code { Code(rawValue: "timedOut") }
    /// The server has nothing there: 404 or 410.
    public static var notFound: Code { Code(rawValue: "notFound") }
    /// What the server has contradicts the request: 409 or 412.
    public static var conflict: Code { Code(rawValue: "conflict") }
    /// The server does not let the caller do that: 401 or 403.
    public static var refused: Code { Code(rawValue: "refused") }
    /// Another 4xx: the request makes no sense to the server.
    public static var badRequest: Code { Code(rawValue: "badRequest") }
    /// A 5xx: the server failed.
    public static var serverFailed: Code { Code(rawValue: "serverFailed") }
    /// The answer is no JSON, has another form than expected, or another status than makes sense.
    public static var malformedAnswer: Code { Code(rawValue: "malformedAnswer") }
    /// A later request with the same uniquing key has taken its place.
    public static var aborted: Code { Code(rawValue: "aborted") }
    /// It was dropped from the queue by hand.
    public static var dropped: Code { Code(rawValue: "dropped") }
    /// Another process has taken it off the queue: with the answer to it.
    public static var answeredElsewhere: Code { Code(rawValue: "answeredElsewhere") }
    /// It names an entity that the server does not know yet.
    public static var localIdentifier: Code { Code(rawValue: "localIdentifier") }
    /// The entity type has no request for what was asked.
    public static var noRequest: Code { Code(rawValue: "noRequest") }
    /// The address can't be made into a URL, or the request can't be encoded.
    public static var invalidRequest: Code { Code(rawValue: "invalidRequest") }
    /// The queue has been closed.
    public static var closed: Code { Code(rawValue: "closed") }
  }

  /// The kind of failure.
  public let code: Code
  /// The request, as in `GET /books/7`.
  public let request: String
  /// Why it failed and what to do, as half a sentence without a full stop.
  public let reason: String
  /// The status of the answer, if one came.
  public let status: Int?
  /// What the client made of the content of an answer that says no.
  public let payload: (any Error)?
  /// The error of the layer below, if one was the cause.
  public let underlying: (any Error)?
  /// How long the server asks to wait before the next attempt, in seconds.
  public internal(set) var retryAfterInSeconds: Double?

  /// Makes an error; for transports of one's own.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - request: The request.
  ///   - reason: Why it failed, as half a sentence without a full stop.
  ///   - status: The status of the answer, if one came.
  ///   - payload: What the client made of the content of the answer.
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

  /// Whether no answer came: the server may or may not have got the request.
  public var isConnectionFailure: Bool { code == .connectionLost || code == .timedOut }

  /// One line: the request and why it failed.
  public var description: String {
    let cause = (payload ?? underlying).map { ": \($0)" } ?? ""
    return "\(request): \(reason)\(cause)"
  }
}
