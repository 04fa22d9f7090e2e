/// How a queue works.
public struct QueueConfiguration: Sendable {
  /// How long to wait until the next attempt when the server can't be reached.
  public var retryInterval = Duration.seconds(15)
  /// How long to wait after an answer by which a busy server asks for patience and does not say how
  /// much; doubled with each further one.
  public var firstBackOff = Duration.seconds(1)
  /// The longest pause.
  public var backOffMaximum = Duration.seconds(300)
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
  func pause(after error: APIError, failureCount: Int) -> Duration {
    if error.isConnectionFailure { return retryInterval }
    if let seconds = error.retryAfterInSeconds, seconds >= 0 {
      return min(.seconds(seconds), backOffMaximum)
    }
    return min(firstBackOff * (1 << min(failureCount - 1, 20)), backOffMaximum)
  }
}
