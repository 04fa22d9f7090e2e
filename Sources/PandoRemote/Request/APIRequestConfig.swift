/// How a queue sends a request.
///
/// ```swift
/// var request = APIRequest(.put, "/books/7/position", body: body)
/// request.configuration.uniquingKey = "position of 7"  // replaces one that waits
/// request.configuration.retryPolicy = .never
/// ```
public struct APIRequestConfig: Hashable, Sendable, Codable {
  /// A later request with the same key replaces this one while it waits; `nil` if none does.
  ///
  /// The replaced request ends with `aborted`.
  public var uniquingKey: String?
  /// Whether a read is not sent if an equal one has no answer yet, and takes that answer.
  public var sharesEqualRequests = true
  /// Whether the queue keeps the answer to a `GET`, and makes the next equal request conditional.
  public var usesConditionalRequests = true
  /// Its order among the requests that wait; for a read, which of them it waits for.
  public var strategy: RequestStrategy {
    get { givenStrategy ?? .serial }
    set { givenStrategy = newValue == .serial ? nil : newValue }
  }
  var givenStrategy: RequestStrategy?
  /// When it is sent again after a failure.
  public var retryPolicy = RetryPolicy.untilAnswered
  /// The longest wait for an answer, in seconds; `nil` for the default of the client.
  public var timeoutInSeconds: Double?

  /// Makes the default configuration.
  ///
  /// - Parameter uniquingKey: A later request with the same key replaces one that waits.
  public init(uniquingKey: String? = nil) { self.uniquingKey = uniquingKey }
}
