/// The method of a request.
///
/// ```swift
/// let request = APIRequest(.patch, "/books/7")
/// let other = APIRequest(HTTPMethod(rawValue: "REPORT"), "/books")
/// ```
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The word that goes over the wire, in capitals.
  public let rawValue: String

  /// Makes a method from its word.
  ///
  /// - Parameter rawValue: For example `PATCH`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Reads.
  public static let get = HTTPMethod(rawValue: "GET")
  /// Reads the head only.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Creates, or does what has no other word.
  public static let post = HTTPMethod(rawValue: "POST")
  /// Replaces or creates.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Changes in part.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// Removes.
  public static let delete = HTTPMethod(rawValue: "DELETE")

  /// Whether it only reads: such requests go side by side, are not stored and not tried again.
  ///
  /// All others are barriers for what is about the same: they wait for what is before them, and what is
  /// behind waits for them.
  public var isReading: Bool { self == .get || self == .head }

  /// The word.
  public var description: String { rawValue }
}
