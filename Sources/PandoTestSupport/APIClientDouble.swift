import FoundationEssentials
public import PandoRemote
import PandoSystem

/// A server in memory: answers as it is told, and remembers what it was asked.
///
/// What it was told no answer to gets the status 404.
///
/// ```swift
/// let server = APIClientDouble()
/// server.answer(.get, "/books/7", with: APIResponse(status: 200, body: json))
/// server.isOffline = true
/// ```
/// Any thread may use it.
public final class APIClientDouble: APIClient {
  /// Answers a request.
  public typealias Handler = @Sendable (APIRequest) async throws -> APIResponse

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
  /// How many requests that change something it takes at the same time.
  public let laneCountMaximum: Int
  private let state = Locked(State())

  /// Makes a server.
  ///
  /// - Parameters:
  ///   - identifier: Its name among the servers of a store.
  ///   - laneCountMaximum: How many requests that change something it takes at the same time.
  public init(identifier: String = "default", laneCountMaximum: Int = 4) {
    self.identifier = identifier
    self.laneCountMaximum = laneCountMaximum
  }

  /// The requests that have come, in order; those that found it offline are not among them.
  public var requests: [APIRequest] { state.withLock { $0.requests } }

  /// Whether it can't be reached.
  public var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// Answers a request alike each time; the last rule for a request counts.
  ///
  /// - Parameters:
  ///   - method: The method of the request.
  ///   - path: Its path, without the query.
  ///   - response: The answer.
  public func answer(_ method: HTTPMethod, _ path: String, with response: APIResponse) {
    answer(method, path) { _ in response }
  }

  /// Answers a request by a closure; the last rule for a request counts.
  ///
  /// - Parameters:
  ///   - method: The method of the request.
  ///   - path: Its path, without the query.
  ///   - handler: Makes the answer.
  public func answer(_ method: HTTPMethod, _ path: String, by handler: @escaping Handler) {
    state.withLock { $0.rules.append(Rule(method: method, path: path, handler: handler)) }
  }

  /// Keeps answers back until ``release()``.
  public func hold() { state.withLock { $0.isHolding = true } }

  /// Lets the answers go that were kept back, and those to come.
  public func release() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Waits until so many requests have come, all together.
  ///
  /// - Parameter count: How many.
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
  /// - Returns: The answer that was told, or status 404.
  /// - Throws: `APIError` `connectionLost` while it is offline.
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
