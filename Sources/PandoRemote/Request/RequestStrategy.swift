/// The order of a request that changes data among the requests that wait.
///
/// ```swift
/// var request = APIRequest(.post, "/events", body: body)
/// request.configuration.strategy = .after("audit")  // events stay in order among themselves
/// ```
public struct RequestStrategy: RawRepresentable, Hashable, Sendable, Codable {
  /// The strategy as text, as it is stored with a request.
  public let rawValue: String

  /// Makes a strategy from its text.
  ///
  /// - Parameter rawValue: The text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// In order with the requests for the same entities, except where both only name the entity.
  ///
  /// Requests that change no entity are in order with each other.
  public static let serial = RequestStrategy(rawValue: "serial")

  /// In parallel with all other requests.
  ///
  /// It only waits for requests that create an entity which it names and the server does not have yet.
  public static let concurrent = RequestStrategy(rawValue: "concurrent")

  /// In order with the requests of an entity or a key, in addition to those of ``serial``.
  ///
  /// - Parameter identifier: A model identifier, or any text as a key.
  /// - Returns: The strategy.
  public static func after(_ identifier: String) -> RequestStrategy {
    RequestStrategy(rawValue: prefix + identifier)
  }

  private static let prefix = "after:"

  /// The argument of ``after(_:)``; `nil` for the other strategies.
  var key: String? {
    rawValue.hasPrefix(Self.prefix) ? String(rawValue.dropFirst(Self.prefix.count)) : nil
  }
}
