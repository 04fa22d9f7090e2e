import PandoSystem

/// When a queue sends a failed request again.
///
/// ```swift
/// var request = APIRequest(.post, "/books")
/// request.configuration.retryPolicy = RetryPolicy(
///   attemptCountMaximum: 5, secondsMaximum: 3_600, statuses: [429, 503])
/// ```
///
/// It applies to requests that change data; reads are never sent again.
public struct RetryPolicy: Hashable, Sendable, Codable {
  /// The maximum number of attempts; `nil` for no limit.
  public var attemptCountMaximum: Int?
  /// The maximum time in the queue after which it is sent again, in seconds; `nil` for no limit.
  ///
  /// ``QueueConfiguration/clock`` measures it while a process sends for the store. The time of the last attempt is
  /// stored with the request, and the next process continues from there. Time without a sending process does not
  /// count. ``APIClientQueue/retry(_:)`` begins again at 0.
  public var secondsMaximum: Double?
  /// The statuses after which it is sent again; they mean that the server has done nothing.
  public var statuses: Set<Int>

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attemptCountMaximum: The maximum number of attempts; `nil` for no limit.
  ///   - secondsMaximum: The maximum time in the queue after which it is sent again; `nil` for no limit.
  ///   - statuses: The statuses after which it is sent again.
  public init(attemptCountMaximum: Int?, secondsMaximum: Double? = nil, statuses: Set<Int>) {
    self.attemptCountMaximum = attemptCountMaximum
    self.secondsMaximum = secondsMaximum
    self.statuses = statuses
  }

  /// Again after a lost connection, a timeout, and 408, 425, 429, 502, 503 or 504, without limit.
  public static let untilAnswered = RetryPolicy(
    attemptCountMaximum: nil, statuses: [408, 425, 429, 502, 503, 504])

  /// Never again.
  public static let never = RetryPolicy(attemptCountMaximum: 1, statuses: [])

  /// Encodes the policy, equal ones alike: its statuses are sorted.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: CodingKeys.self)
    try row.encodeIfPresent(attemptCountMaximum, forKey: .attemptCountMaximum)
    try row.encodeIfPresent(secondsMaximum, forKey: .secondsMaximum)
    try row.encode(statuses.ordered(), forKey: .statuses)
  }

  /// Whether a request is sent again after an error, a number of attempts and a time in the queue.
  func allows(
    _ error: APIError, afterAttempts attemptCount: Int, afterSeconds seconds: Double
  ) -> Bool {
    if let attemptCountMaximum, attemptCount >= attemptCountMaximum { return false }
    if let secondsMaximum, seconds >= secondsMaximum { return false }
    if error.isConnectionFailure { return true }
    return error.status.map(statuses.contains) ?? false
  }
}
