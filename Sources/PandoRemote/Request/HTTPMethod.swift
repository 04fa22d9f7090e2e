/// The method of a request.
///
/// ```swift
/// let request = APIRequest(.patch, "/books/7")
/// let other = APIRequest(HTTPMethod(rawValue: "REPORT"), "/books")
/// ```
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The name of the method, in capitals.
  public let rawValue: String

  /// Makes a method from its name.
  ///
  /// - Parameter rawValue: For example `PATCH`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Reads.
  public static let get = HTTPMethod(rawValue: "GET")
  /// Reads the header fields only.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Creates, or does anything without a method of its own.
  public static let post = HTTPMethod(rawValue: "POST")
  /// Replaces or creates.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Changes in part.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// Removes.
  public static let delete = HTTPMethod(rawValue: "DELETE")

  /// Whether it only reads: reads run in parallel, and are neither stored nor sent again.
  ///
  /// Each other request waits for the earlier requests for the same entities, and the later ones wait for it.
  public var isReading: Bool { self == .get || self == .head }

  /// The name.
  public var description: String { rawValue }
}
