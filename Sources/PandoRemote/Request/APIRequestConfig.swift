/// How a request is treated on its way.
///
/// ```swift
/// var request = APIRequest(.put, "/books/7/position", body: body)
/// request.configuration.uniquingKey = "position of 7"  // replaces one that waits
/// request.configuration.retryPolicy = .never
/// ```
public struct APIRequestConfig: Hashable, Sendable {
  /// The key by which a later request takes the place of one that is still queued.
  ///
  /// The older one ends with `aborted`. `nil` if every request counts.
  public var uniquingKey: String?
  /// Whether a reading request that equals one under way waits for that one's answer and is not sent.
  public var sharesEqualRequests = true
  /// Whether the answer to a reading request is kept, and the server asked whether it still holds.
  public var usesConditionalRequests = true
  /// How it stands to the others that wait; for a request that only reads, which of them it waits for.
  public var strategy: RequestStrategy {
    get { givenStrategy ?? .serial }
    set { givenStrategy = newValue == .serial ? nil : newValue }
  }
  var givenStrategy: RequestStrategy?
  /// When it is tried again.
  public var retryPolicy = RetryPolicy.untilAnswered
  /// How long to wait for an answer, in seconds; `nil` for as long as the client waits by itself.
  public var timeoutInSeconds: Double?

  /// Makes the usual configuration.
  ///
  /// - Parameter uniquingKey: A later request with the same key takes the place of a queued one.
  public init(uniquingKey: String? = nil) { self.uniquingKey = uniquingKey }
}
