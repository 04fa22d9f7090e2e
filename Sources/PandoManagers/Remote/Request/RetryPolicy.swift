import PandoSystem

/// When a request that has failed is tried again.
///
/// It counts for requests that change something; reading requests are never tried again.
public struct RetryPolicy: Hashable, Sendable, Codable {
  /// How often a request is sent at most; `nil` for as often as it takes.
  public var attemptCountMaximum: Int?
  /// Answers after which it is tried again: by these a server says that it has not done anything.
  public var statuses: Set<Int>

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attemptCountMaximum: How often a request is sent at most; `nil` for as often as it takes.
  ///   - statuses: Answers after which it is tried again.
  public init(attemptCountMaximum: Int?, statuses: Set<Int>) {
    self.attemptCountMaximum = attemptCountMaximum
    self.statuses = statuses
  }

  /// Again after connection loss, timeout, and 408, 425, 429, 502, 503 or 504; as often as it takes.
  public static let untilAnswered = RetryPolicy(
    attemptCountMaximum: nil, statuses: [408, 425, 429, 502, 503, 504])

  /// Never again.
  public static let never = RetryPolicy(attemptCountMaximum: 1, statuses: [])

  func allows(_ error: APIError, afterAttempts count: Int) -> Bool {
    if let attemptCountMaximum, count >= attemptCountMaximum { return false }
    if error.isConnectionFailure { return true }
    return error.status.map(statuses.contains) ?? false
  }

  // A set has no order of its own, and stored bytes shall not depend on chance.
  private enum CodingKeys: String, CodingKey {
    case attemptCountMaximum, statuses
  }

  /// Encodes the policy.
  ///
  /// - Parameter encoder: Where to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(attemptCountMaximum, forKey: .attemptCountMaximum)
    try container.encode(statuses.ordered(), forKey: .statuses)
  }
}
