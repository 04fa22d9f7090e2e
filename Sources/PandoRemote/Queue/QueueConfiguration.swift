/// How a queue works.
///
/// ```swift
/// var configuration = QueueConfiguration()
/// configuration.retryInterval = .seconds(60)
/// configuration.onEvent = { event in print(event) }
/// let queue = APIClientQueue.open(for: store, client: client, configuration: configuration)
/// ```
public struct QueueConfiguration: Sendable {
  /// How long to wait until the next attempt when the server can't be reached.
  public var retryInterval = Duration.seconds(15)
  /// How long to wait after an answer by which a busy server asks for patience and does not say how
  /// much; doubled with each further one.
  public var firstBackOff = Duration.seconds(1)
  /// The longest pause.
  public var backOffMaximum = Duration.seconds(300)
  /// By which part such a pause may be shorter, at random, so that not all clients of a server come back
  /// at once: 0 to 1.
  public var backOffJitter = 0.2
  /// After how many answers of a busy server in a row nothing is sent for a while; then one request tries
  /// first.
  public var circuitFailureCount = 5
  /// What the pauses are measured with.
  public var clock: any Clock<Duration> = ContinuousClock()
  /// How many bytes of answers are kept to ask the server whether they still hold; 0 for none.
  public var keptByteCountMaximum = 16 << 20
  /// The header field by which the server recognizes a request that is sent again; `nil` for none.
  public var idempotencyHeader: String? = "Idempotency-Key"
  /// Is told what happens; called one after another, must not wait.
  public var onEvent: (@Sendable (QueueEvent) -> Void)?
  /// Is told each step of a durable request.
  package var onStep: (@Sendable (QueueStep) async -> Void)?

  /// Makes the usual configuration.
  public init() {}

  /// How long to wait after an error.
  func pause(after error: APIError, attemptCount: Int) -> Duration {
    if error.isConnectionFailure { return retryInterval }
    if let seconds = error.retryAfterInSeconds {
      // A duration holds less than a number.
      return min(.seconds(min(seconds, 1e15)), backOffMaximum)
    }
    let pause = min(firstBackOff * (1 << min(max(attemptCount, 1) - 1, 20)), backOffMaximum)
    return pause * (1 - .random(in: 0...max(0, min(backOffJitter, 1))))
  }
}
