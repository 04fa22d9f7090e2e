/// The configuration of a queue.
///
/// ```swift
/// var configuration = QueueConfiguration()
/// configuration.retryInterval = .seconds(60)
/// configuration.onEvent = { event in print(event) }
/// let queue = APIClientQueue.open(for: store, client: client, configuration: configuration)
/// ```
public struct QueueConfiguration: Sendable {
  /// The delay before the next attempt if the server is out of reach.
  public var retryInterval = Duration.seconds(15)
  /// The delay after the first answer of a busy server without `Retry-After`; doubled with each further one.
  public var firstBackOff = Duration.seconds(1)
  /// The longest delay after an answer of a busy server.
  public var backOffMaximum = Duration.seconds(300)
  /// The part, from 0 to 1, by which a delay without `Retry-After` is shortened at random, so that clients spread out.
  public var backOffJitter = 0.2
  /// The number of failures in a row after which the queue sends nothing for a delay, and then one request first.
  public var circuitFailureCount = 5
  /// The clock that measures delays, and the time of ``RetryPolicy/secondsMaximum``.
  public var clock: any Clock<Duration> = ContinuousClock()
  /// The maximum size of the answers that are kept for conditional requests, in bytes; 0 for none.
  public var keptByteCountMaximum = 16 << 20
  /// The header field by which the server recognizes a request that is sent again; `nil` for none.
  public var idempotencyHeader: String? = "Idempotency-Key"
  /// Called for each event, one after another; must not block.
  public var onEvent: (@Sendable (QueueEvent) -> Void)?
  /// Called at each step of a durable request.
  package var onStep: (@Sendable (QueueStep) async -> Void)?

  /// Makes the default configuration.
  public init() {}

  /// The delay after an error.
  func pause(after error: APIError, attemptCount: Int) -> Duration {
    if error.isConnectionFailure { return retryInterval }
    if let seconds = error.retryAfterInSeconds {
      // Not every number fits into a duration.
      return min(.seconds(min(seconds, 1e15)), backOffMaximum)
    }
    let pause = min(firstBackOff * (1 << min(max(attemptCount, 1) - 1, 20)), backOffMaximum)
    return pause * (1 - .random(in: 0...max(0, min(backOffJitter, 1))))
  }
}
