/// The path of a request, written as a text that can contain identifiers.
///
/// ```swift
/// let path: APIPath = "/books/\(book.id)/loans"
/// ```
///
/// Characters of an interpolated value that a segment can't contain are escaped. `.` and `..` can't be escaped: a
/// request with such a segment fails with `invalidRequest`. While a request waits, the queue replaces a local
/// identifier in it by the one that the server assigns.
public struct APIPath: Hashable, Sendable, Codable {
  /// The path as it is sent; it begins with a slash.
  public internal(set) var text: String
  /// The model identifiers of the entities whose local identifiers it contains.
  public internal(set) var localIdentifiers: [String]

  /// Makes a path from escaped text.
  ///
  /// - Parameter text: The path; a missing slash at its beginning is added.
  public init(_ text: String) {
    self.text = text.hasPrefix("/") ? text : "/" + text
    localIdentifiers = []
  }

  /// Whether it has a segment `.` or `..`.
  var climbs: Bool {
    text.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
      segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
    }
  }

  /// Escapes text for one segment of a path.
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

  /// Removes the escapes of a segment of a path; `nil` if they are malformed.
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
  /// The parts of a path literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var localIdentifiers: [String] = []

    /// Begins a path.
    ///
    /// - Parameters:
    ///   - literalCapacity: The approximate size of the literals, in bytes.
    ///   - interpolationCount: The number of values.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    /// Appends text without escapes.
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

  /// Makes a path from a literal with values.
  ///
  /// - Parameter stringInterpolation: The parts.
  public init(stringInterpolation: StringInterpolation) {
    self.init(stringInterpolation.text)
    localIdentifiers = stringInterpolation.localIdentifiers
  }

  /// Makes a path from a literal.
  ///
  /// - Parameter value: The path, already escaped.
  public init(stringLiteral value: String) { self.init(value) }

  /// The path.
  public var description: String { text }
}
