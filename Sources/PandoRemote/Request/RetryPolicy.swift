/// When a request that has failed is tried again.
///
/// ```swift
/// var request = APIRequest(.post, "/books")
/// request.configuration.retryPolicy = RetryPolicy(
///   attemptCountMaximum: 5, secondsMaximum: 3_600, statuses: [429, 503])
/// ```
///
/// It counts for requests that change something; reading requests are never tried again.
public struct RetryPolicy: Hashable, Sendable {
  /// How often a request is sent at most; `nil` for as often as it takes.
  public var attemptCountMaximum: Int?
  /// How long after it was queued it is tried again at most, in seconds; `nil` for as long as it takes.
  ///
  /// Counted by ``QueueConfiguration/clock``, which nobody sets, while a process sends for the store. A process that
  /// ends keeps the count of the last attempt with the request, and the next one goes on from there: the time in
  /// which nobody sends does not count. ``APIClientQueue/retry(_:)`` begins anew.
  public var secondsMaximum: Double?
  /// Answers after which it is tried again: by these a server says that it has not done anything.
  public var statuses: Set<Int>

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attemptCountMaximum: How often a request is sent at most; `nil` for as often as it takes.
  ///   - secondsMaximum: How long after it was queued it is tried again at most.
  ///   - statuses: Answers after which it is tried again.
  public init(attemptCountMaximum: Int?, secondsMaximum: Double? = nil, statuses: Set<Int>) {
    self.attemptCountMaximum = attemptCountMaximum
    self.secondsMaximum = secondsMaximum
    self.statuses = statuses
  }

  /// Again after connection loss, timeout, and 408, 425, 429, 502, 503 or 504; as often as it takes.
  public static let untilAnswered = RetryPolicy(
    attemptCountMaximum: nil, statuses: [408, 425, 429, 502, 503, 504])

  /// Never again.
  public static let never = RetryPolicy(attemptCountMaximum: 1, statuses: [])

  /// Whether a request is tried again after an error.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - attemptCount: How often it was sent.
  ///   - seconds: How long ago it was queued.
  /// - Returns: Whether it is.
  func allows(
    _ error: APIError, afterAttempts attemptCount: Int, afterSeconds seconds: Double
  ) -> Bool {
    if let attemptCountMaximum, attemptCount >= attemptCountMaximum { return false }
    if let secondsMaximum, seconds >= secondsMaximum { return false }
    if error.isConnectionFailure { return true }
    return error.status.map(statuses.contains) ?? false
  }
}
