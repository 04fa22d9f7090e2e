public import Foundation
import FoundationNetworking
public import PandoRemote

/// Carries requests over HTTP with FoundationNetworking.
///
/// ```swift
/// let client = URLSessionAPIClient(baseURL: url)
/// let container = try CoreManagerContainer(
///   entities: Book.self, client: client, diskStoreConfig: .path("data"))
/// ```
///
/// - Note: Any thread may call it, several at the same time.
public final class URLSessionAPIClient: APIClient {
  /// How a client connects.
  ///
  /// ```swift
  /// var configuration = URLSessionAPIClient.Configuration()
  /// configuration.authorize = { refused in
  ///   try await refused == nil ? session.token() : session.newToken()
  /// }
  /// let client = URLSessionAPIClient(baseURL: url, configuration: configuration)
  /// ```
  public struct Configuration: Sendable {
    /// The name of the server among those that one store has requests for.
    public var identifier = "default"
    /// Header fields of every request; those of the request itself come before them.
    public var headers: APIHeaders = ["Accept": "application/json"]
    /// How long to wait while nothing comes, in seconds, where the request does not say.
    ///
    /// In whole seconds, rounded up; one at least.
    public var timeoutInSeconds = 60.0
    /// How long to wait for the end of an answer, in seconds, also while it comes byte by byte; `nil` for
    /// as long as it takes.
    ///
    /// It counts for each attempt and each redirect by itself, and not for streamed answers.
    public var totalTimeoutInSeconds: Double? = 600
    /// How many connections to the server are open at most.
    public var connectionCountMaximum = 16
    /// How many requests that change something are on their way at the same time at most.
    public var laneCountMaximum = 4
    /// Completes a request before each attempt; `nil` to send it as it is.
    public var prepare: (@Sendable (APIRequest) async throws -> APIRequest)?
    /// Gives the value of `Authorization`; `nil` to set none.
    ///
    /// Asked before each request that has no such field, with `nil`; it should have the value at hand
    /// then. Asked again after a 401, with that answer's status and header fields: it gets a new value,
    /// with which the request is sent once more, or `nil` if there is none. The answer to the second
    /// attempt counts, also if it is 401. Of requests that are refused at the same time one asks for all;
    /// those that come meanwhile wait for the new value. Requests that the closure itself sends with
    /// this client go without.
    ///
    /// What it throws is thrown to those who send; a queue tries again after any error but an `APIError`
    /// of another kind than `connectionLost` and `timedOut`.
    public var authorize: (@Sendable (_ refused: APIResponse?) async throws -> String?)?
    /// Reads the content of an answer that says no; `nil` to quote it.
    public var errorPayload: (@Sendable (APIResponse, APIRequest) -> (any Error)?)?

    /// Makes the usual configuration.
    public init() {}
  }

  /// The address that paths are relative to.
  public let baseURL: URL
  /// The name of the server among those that one store has requests for.
  public var identifier: String { configuration.identifier }
  /// How many requests that change something are on their way at the same time at most.
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
  ///   - configuration: How to connect.
  public init(baseURL: URL, configuration: Configuration = Configuration()) {
    self.baseURL = baseURL
    self.configuration = configuration
    let text = baseURL.absoluteString
    base = text.hasSuffix("/") ? String(text.dropLast()) : text
    authorizer = configuration.authorize.map(Authorizer.init)
    sessionConfiguration = .ephemeral
    sessionConfiguration.httpMaximumConnectionsPerHost = configuration.connectionCountMaximum
    // What is kept of answers is kept above the transport, where it can be asked for.
    sessionConfiguration.urlCache = nil
    sessionConfiguration.requestCachePolicy = .reloadIgnoringLocalCacheData
    sessionConfiguration.urlCredentialStorage = nil
    session = delegate.makeSession(sessionConfiguration)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Completes a request as the configuration says.
  ///
  /// - Parameter request: The request as it was made.
  /// - Returns: The request as it is sent.
  /// - Throws: What the closure of the configuration throws.
  public func prepareRequest(_ request: APIRequest) async throws -> APIRequest {
    guard let prepare = configuration.prepare else { return request }
    return try await prepare(request)
  }

  /// Sends a request and waits for the whole answer.
  ///
  /// A request with content has a connection of its own. One without may be sent twice when a connection
  /// that was kept open breaks before the answer begins.
  ///
  /// A redirect is followed if that can lose nothing: a reading request follows all, another one 307 and
  /// 308 with method and content, and 303 with GET. Otherwise the redirect is the answer, and likewise
  /// from https to http and after 20 of them; its content is empty. `Authorization` and `Cookie` don't go
  /// to another scheme, host or port; other header fields do.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, whatever its status is.
  /// - Throws: ``APIError`` `connectionLost`, `timedOut` or `invalidRequest`; what
  ///   ``Configuration/authorize`` throws; `CancellationError` if the task was cancelled, which ends the
  ///   request at once.
  public func send(_ request: APIRequest) async throws -> APIResponse {
    var (response, exchange) = try await open(request, limit: nil)
    response.body = try await exchange.content()
    return response
  }

  /// How many bytes of a streamed answer wait for the reader in memory, but for the last piece.
  static let streamedByteCountMaximum = 1 << 20

  /// Sends a request and returns as soon as status and header fields of the answer are there.
  ///
  /// About 1 MB of the content is held in memory, however large the answer is. What comes beyond that while
  /// the reader is slower than the server waits in a file without a name, in the folder for temporary files.
  /// The request ends when nobody holds the answer any more. For 200 MB a debug build on two cores needed 6 MB
  /// more, 10 MB with a reader that began when all had come; ``send(_:)`` needs as much as the answer.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, whatever its status is.
  /// - Throws: As ``send(_:)``; what goes wrong later is thrown to who reads the content.
  public func stream(_ request: APIRequest) async throws -> StreamedResponse {
    let (head, exchange) = try await open(request, limit: Self.streamedByteCountMaximum)
    return StreamedResponse(head, exchange)
  }

  /// Reads the content of an answer that says no, as the configuration says.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: What it answers.
  /// - Returns: An error in the words of the API, or `nil` to quote the content.
  public func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)? {
    configuration.errorPayload?(response, request)
  }

  /// Sends a request, with what it needs to be let in, until an answer begins that counts.
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

  /// Sends a request, and again where redirects lead.
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
    // On a connection that the server has just closed, libcurl sends it again on another one, where
    // FoundationNetworking has no content for it any more: both sides wait (6.3.1). A session of its own
    // has no such connection.
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
