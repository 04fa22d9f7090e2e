public import Foundation
import FoundationNetworking
public import PandoRemote

/// Sends requests over HTTP with FoundationNetworking.
///
/// ```swift
/// let client = URLSessionAPIClient(baseURL: url)
/// let container = try CoreManagerContainer(
///   entities: Book.self, client: client, diskStoreConfig: .path("data"))
/// ```
///
/// - Note: Any thread may call it, several at the same time.
public final class URLSessionAPIClient: APIClient {
  /// The settings of a client.
  ///
  /// ```swift
  /// var configuration = URLSessionAPIClient.Configuration()
  /// configuration.authorize = { refused in
  ///   try await refused == nil ? session.token() : session.newToken()
  /// }
  /// let client = URLSessionAPIClient(baseURL: url, configuration: configuration)
  /// ```
  public struct Configuration: Sendable {
    /// The name of the server, unique among the servers of one store.
    public var identifier = "default"
    /// Header fields of every request; fields of the request itself take precedence.
    public var headers: APIHeaders = ["Accept": "application/json"]
    /// The longest time without data, in seconds, for requests that set no timeout.
    ///
    /// The client rounds it up to whole seconds; the minimum is 1, the maximum 1 000 000.
    public var timeoutInSeconds = 60.0
    /// The longest time until the end of an answer, in seconds; `nil` for no limit.
    ///
    /// It applies to each attempt and each redirect separately, and not to streamed answers.
    public var totalTimeoutInSeconds: Double? = 600
    /// The maximum number of open connections to the server.
    public var connectionCountMaximum = 16
    /// The maximum number of concurrent requests that change something.
    public var laneCountMaximum = 4
    /// Completes a request before each attempt; `nil` to send it unchanged.
    public var prepare: (@Sendable (APIRequest) async throws -> APIRequest)?
    /// Supplies the value of `Authorization`; `nil` to set none.
    ///
    /// The client calls it with `nil` before each request without that field; it should return a
    /// value that it has at hand. After a 401 the client calls it with status and header fields of
    /// that answer. It returns a new value for a second attempt, or `nil`. The second answer
    /// counts, even if it is 401. Requests refused at the same time share one call; later requests
    /// wait for its value. Requests that the closure sends with this client get no value.
    ///
    /// The sender receives the closure's errors. A queue retries after them, except after an
    /// `APIError` other than `connectionLost` and `timedOut`.
    public var authorize: (@Sendable (_ refused: APIResponse?) async throws -> String?)?
    /// Converts the content of an error answer to an error; `nil` to quote the content.
    public var errorPayload: (@Sendable (APIResponse, APIRequest) -> (any Error)?)?

    /// Makes the default configuration.
    public init() {}
  }

  /// The address that paths are relative to.
  public let baseURL: URL
  /// The name of the server, unique among the servers of one store.
  public var identifier: String { configuration.identifier }
  /// The maximum number of concurrent requests that change something.
  public var laneCountMaximum: Int { configuration.laneCountMaximum }

  let configuration: Configuration
  let base: String
  private let session: URLSession
  private let sessionConfiguration: URLSessionConfiguration
  private let delegate = ExchangeDelegate()
  private let authorizer: Authorizer?

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - baseURL: The address that paths are relative to, such as `https://example.org/v1`.
  ///   - configuration: The settings of the client.
  public init(baseURL: URL, configuration: Configuration = Configuration()) {
    self.baseURL = baseURL
    self.configuration = configuration
    let text = baseURL.absoluteString
    base = text.hasSuffix("/") ? String(text.dropLast()) : text
    authorizer = configuration.authorize.map(Authorizer.init)
    sessionConfiguration = .ephemeral
    sessionConfiguration.httpMaximumConnectionsPerHost = configuration.connectionCountMaximum
    // Caches lie above the transport, where a program can read them.
    sessionConfiguration.urlCache = nil
    sessionConfiguration.requestCachePolicy = .reloadIgnoringLocalCacheData
    sessionConfiguration.urlCredentialStorage = nil
    session = delegate.makeSession(sessionConfiguration)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Completes a request as the configuration says.
  ///
  /// - Parameter request: The original request.
  /// - Returns: The request to send.
  /// - Throws: Any error of the configuration's closure.
  public func prepareRequest(_ request: APIRequest) async throws -> APIRequest {
    guard let prepare = configuration.prepare else { return request }
    return try await prepare(request)
  }

  /// Sends a request and waits for the whole answer.
  ///
  /// A request with content uses a connection of its own. A request without content may be sent
  /// twice, if a kept connection breaks before the answer starts.
  ///
  /// A redirect is followed if nothing can be lost. GET and HEAD follow all redirects; other
  /// methods follow 307 and 308 with method and content, and 303 with GET. Any other redirect, one
  /// from https to http, and the 21st are the answer, without content. Only requests to the same
  /// scheme, host and port keep `Authorization` and `Cookie`.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, with any status.
  /// - Throws: ``APIError`` `connectionLost`, `timedOut` or `invalidRequest`; errors of
  ///   ``Configuration/authorize``; `CancellationError` if the task was cancelled, which ends the
  ///   request at once.
  public func send(_ request: APIRequest) async throws -> APIResponse {
    var (response, exchange) = try await open(request, limit: nil)
    response.body = try await exchange.content()
    return response
  }

  /// How many bytes of a streamed answer may wait in memory, without the last piece.
  static let streamedByteCountMaximum = 1 << 20

  /// Sends a request and returns when status and header fields of the answer have arrived.
  ///
  /// Memory holds about 1 MB of the content, however large the answer is. If the reader is slower
  /// than the server, the rest waits in an unlinked file in the folder for temporary files. The
  /// request ends when the last copy of the answer is released. For 200 MB a debug build on two
  /// cores needed 6 MB more, and 10 MB with a late reader; ``send(_:)`` needs as much as the
  /// answer.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, with any status.
  /// - Throws: As ``send(_:)``; the reader of the content receives later errors.
  public func stream(_ request: APIRequest) async throws -> StreamedResponse {
    let (head, exchange) = try await open(request, limit: Self.streamedByteCountMaximum)
    return StreamedResponse(head, exchange)
  }

  /// Converts the content of an error answer to an error, as the configuration says.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: The request.
  /// - Returns: An error of the API, or `nil` to quote the content.
  public func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)? {
    configuration.errorPayload?(response, request)
  }

  /// Sends a request, a second time after a 401, and returns when the final answer starts.
  private func open(
    _ request: APIRequest, limit: Int?
  ) async throws -> (head: APIResponse, exchange: Exchange) {
    var made = try urlRequest(request)
    guard let authorizer, authorizer.isAsked, made.value(forHTTPHeaderField: "Authorization") == nil
    else {
      let opened = try await follow(made, request, limit)
      return (opened.head, opened.exchange)
    }
    let grant = try await authorizer.grant()
    made.setValue(grant.value, forHTTPHeaderField: "Authorization")
    let first = try await follow(made, request, limit)
    guard first.head.status == 401, !first.isElsewhere else { return (first.head, first.exchange) }
    let second: Authorizer.Grant?
    do {
      second = try await authorizer.grant(after: grant, first.head)
    } catch {
      first.exchange.stop()
      throw error
    }
    guard let second else { return (first.head, first.exchange) }
    first.exchange.stop()
    made.setValue(second.value, forHTTPHeaderField: "Authorization")
    let again = try await follow(made, request, limit)
    return (again.head, again.exchange)
  }

  /// Sends a request and follows redirects.
  private func follow(
    _ made: URLRequest, _ request: APIRequest, _ limit: Int?
  ) async throws -> (head: APIResponse, exchange: Exchange, isElsewhere: Bool) {
    var (current, count, isElsewhere) = (made, 0, false)
    while true {
      try Task.checkCancellation()
      let exchange = start(current, request, limit)
      let head = try await exchange.response()
      guard count < 20, let next = current.redirected(by: head) else {
        return (head, exchange, isElsewhere)
      }
      exchange.stop()
      isElsewhere = isElsewhere || !next.hasOrigin(of: current)
      current = next
      count += 1
    }
  }

  private func start(_ made: URLRequest, _ request: APIRequest, _ limit: Int?) -> Exchange {
    // If the server has just closed a connection, libcurl sends the request again on another one.
    // FoundationNetworking (6.3.1) then has no content for it, and both sides wait. A session of
    // its own has no such connection.
    let isAlone = made.httpBody?.isEmpty == false
    let session = isAlone ? delegate.makeSession(sessionConfiguration) : session
    defer { if isAlone { session.finishTasksAndInvalidate() } }
    let task = session.dataTask(with: made)
    let exchange = Exchange(request, task, limit: limit)
    delegate.add(exchange, of: task)
    exchange.start(timeoutInSeconds: limit == nil ? configuration.totalTimeoutInSeconds : nil)
    return exchange
  }
}
