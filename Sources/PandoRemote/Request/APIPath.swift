/// The path of a request, written as text in which identifiers can stand.
///
/// ```swift
/// let path: APIPath = "/books/\(book.id)/loans"
/// ```
///
/// What is interpolated becomes one segment, with the characters escaped that a segment can't hold. `.` and
/// `..` can't be escaped: a request with such a segment is refused as `invalidRequest`.
/// A local identifier is remembered: once the server has named the entity, a request that is still
/// queued is sent with the server's identifier.
public struct APIPath: Hashable, Sendable {
  /// The path as it goes over the wire; begins with a slash.
  public internal(set) var text: String
  /// The model identifiers of the entities whose local identifiers stand in it.
  public internal(set) var localIdentifiers: [String]

  /// Makes a path of text that is escaped already.
  ///
  /// - Parameter text: The path; a slash is put before it where there is none.
  public init(_ text: String) {
    self.text = text.hasPrefix("/") ? text : "/" + text
    localIdentifiers = []
  }

  /// Whether one of its segments leads elsewhere: to the same place, or to the one above.
  var climbs: Bool {
    text.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
      segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
    }
  }

  /// Returns text as it can stand in one segment of a path.
  ///
  /// - Parameter text: Any text.
  /// - Returns: The text with all but unreserved characters and colons escaped.
  public static func escaping(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return escaped
  }

  /// Returns the text that a segment of a path stands for; `nil` if its escapes are broken.
  static func unescaping(_ segment: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(segment.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == 2 else { return nil }
      bytes.append(UInt8(digits[0] << 4 | digits[1]))
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension APIPath: ExpressibleByStringInterpolation, CustomStringConvertible {
  /// What a path literal is put together from.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var localIdentifiers: [String] = []

    /// Begins a path.
    ///
    /// - Parameters:
    ///   - literalCapacity: About how many bytes of literals come.
    ///   - interpolationCount: How many values come.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    /// Appends text as it is.
    ///
    /// - Parameter literal: A part of the path.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a value as one segment or a part of one.
    ///
    /// - Parameter value: Its description is escaped.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      text += APIPath.escaping(value.description)
    }
  }

  /// Makes a path of a literal with values in it.
  ///
  /// - Parameter stringInterpolation: The parts.
  public init(stringInterpolation: StringInterpolation) {
    self.init(stringInterpolation.text)
    localIdentifiers = stringInterpolation.localIdentifiers
  }

  /// Makes a path of a literal.
  ///
  /// - Parameter value: The path, escaped where that is needed.
  public init(stringLiteral value: String) { self.init(value) }

  /// The path.
  public var description: String { text }
}
