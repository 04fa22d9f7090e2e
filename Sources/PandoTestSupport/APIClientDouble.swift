import FoundationEssentials
public import PandoRemote
import PandoSystem

/// A server in memory: answers by rules and records its requests.
///
/// A request without a rule gets the status 404.
///
/// ```swift
/// let server = APIClientDouble()
/// server.answer(.get, "/books/7", with: APIResponse(status: 200, body: json))
/// server.isOffline = true
/// ```
/// Any thread may use it.
public final class APIClientDouble: APIClient {
  private typealias Handler = @Sendable (APIRequest) async throws -> APIResponse

  private struct Rule {
    let method: HTTPMethod
    let path: String
    let handler: Handler
  }

  private struct State {
    var rules: [Rule] = []
    var requests: [APIRequest] = []
    var isOffline = false
    var isHolding = false
    var held: [CheckedContinuation<Void, Never>] = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// The name of the server.
  public let identifier: String
  /// The maximum number of concurrent requests that change something.
  public let laneCountMaximum: Int
  private let state = Locked(State())

  /// Makes a server.
  ///
  /// - Parameters:
  ///   - identifier: Its name among the servers of a store.
  ///   - laneCountMaximum: The maximum number of concurrent requests that change something.
  public init(identifier: String = "default", laneCountMaximum: Int = 4) {
    self.identifier = identifier
    self.laneCountMaximum = laneCountMaximum
  }

  /// The requests received, in order, without those sent while the server was offline.
  public var requests: [APIRequest] { state.withLock { $0.requests } }

  /// Whether requests fail as if the server were unreachable.
  public var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// Adds a rule with a constant answer; the last rule for a request counts.
  ///
  /// - Parameters:
  ///   - method: The method of the request.
  ///   - path: Its path, without the query.
  ///   - response: The answer.
  public func answer(_ method: HTTPMethod, _ path: String, with response: APIResponse) {
    answer(method, path) { _ in response }
  }

  /// Adds a rule with a closure; the last rule for a request counts.
  ///
  /// - Parameters:
  ///   - method: The method of the request.
  ///   - path: Its path, without the query.
  ///   - handler: Returns the answer.
  public func answer(
    _ method: HTTPMethod, _ path: String,
    by handler: @escaping @Sendable (APIRequest) async throws -> APIResponse
  ) {
    state.withLock { $0.rules.append(Rule(method: method, path: path, handler: handler)) }
  }

  /// Holds answers back until ``release()``.
  public func hold() { state.withLock { $0.isHolding = true } }

  /// Releases all held answers, and holds back no more.
  public func release() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Waits until the server has received a number of requests in all.
  ///
  /// - Parameter count: The number of requests.
  public func received(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { state in
        if state.requests.count >= count { return false }
        state.waiters.append((count, continuation))
        return true
      }
      if !waits { continuation.resume() }
    }
  }

  /// Answers a request.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer of the last matching rule, or status 404.
  /// - Throws: `APIError` `connectionLost` while the server is offline; errors of the handler.
  public func send(_ request: APIRequest) async throws -> APIResponse {
    guard let handler = try receive(request) else { return APIResponse(status: 404) }
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHolding { state.held.append(continuation) }
        return state.isHolding
      }
      if !isHeld { continuation.resume() }
    }
    if isOffline { throw Self.offline(request) }
    return try await handler(request)
  }

  private func receive(_ request: APIRequest) throws -> Handler? {
    let (handler, ready, isOffline) = state.withLock { state in
      if state.isOffline { return (Handler?.none, [CheckedContinuation<Void, Never>](), true) }
      state.requests.append(request)
      let count = state.requests.count
      let ready = state.waiters.filter { $0.count <= count }.map(\.continuation)
      state.waiters.removeAll { $0.count <= count }
      let rule = state.rules.last { $0.method == request.method && $0.path == request.path.text }
      return (rule?.handler, ready, false)
    }
    for waiter in ready { waiter.resume() }
    if isOffline { throw Self.offline(request) }
    return handler
  }

  private static func offline(_ request: APIRequest) -> APIError {
    APIError(.connectionLost, request, "the server is offline, as the test says")
  }
}
