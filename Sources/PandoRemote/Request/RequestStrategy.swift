/// How a request that changes something stands to the others that wait.
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

  /// In order with the requests about the same: the entities that it changes, and those that it names.
  ///
  /// Requests that name no entity are in order among themselves.
  public static let serial = RequestStrategy(rawValue: "serial")

  /// Beside all others.
  ///
  /// It waits for those only that make an entity which it names and the server does not know yet.
  public static let concurrent = RequestStrategy(rawValue: "concurrent")

  /// In order with the requests about an entity or with a key of one's own, besides those that `serial`
  /// says.
  ///
  /// - Parameter identifier: A model identifier, or any text.
  /// - Returns: The strategy.
  public static func after(_ identifier: String) -> RequestStrategy {
    RequestStrategy(rawValue: prefix + identifier)
  }

  private static let prefix = "after:"

  /// What it goes after; `nil` for the other strategies.
  var key: String? {
    rawValue.hasPrefix(Self.prefix) ? String(rawValue.dropFirst(Self.prefix.count)) : nil
  }
}
