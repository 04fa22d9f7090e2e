import FoundationEssentials

extension JSONWriter {
  /// The usual look of a tagged value that is a text: a URL or a UUID.
  static func text(of value: TreeValue, tag: UInt64) -> String? {
    switch (tag, value) {
    case (32, .string(let text)):
      return text
    case (37, .bytes(let bytes)) where bytes.count == 16:
      let digits = bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16, uppercase: true) }
      let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      return groups.map { digits[$0].joined() }.joined(separator: "-")
    default:
      return nil
    }
  }

  /// The digits of a tagged value that is a number: an integer beyond 64 bits or a decimal number.
  static func number(of value: TreeValue, tag: UInt64) -> String? {
    switch (tag, value) {
    case (2, .bytes(let bytes)):
      return magnitude(of: bytes)?.description
    case (3, .bytes(let bytes)):
      guard let magnitude = magnitude(of: bytes), magnitude < .max else { return nil }
      return "-" + (magnitude + 1).description
    case (4, .array(let parts)) where parts.count == 2:
      guard case .integer(let exponent) = parts[0], let digits = integer(parts[1]) else {
        return nil
      }
      return decimal(digits, exponent: exponent)
    default:
      return nil
    }
  }

  private static func integer(_ value: TreeValue) -> String? {
    switch value {
    case .integer(let value): value.description
    case .unsigned(let value): value.description
    case .tagged(let tag, let value) where tag == 2 || tag == 3: number(of: value, tag: tag)
    default: nil
    }
  }

  private static func magnitude(of bytes: [UInt8]) -> UInt128? {
    guard bytes.count <= 16 else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// Moves the decimal point, or writes an exponent where that would take many zeros.
  private static func decimal(_ integer: String, exponent: Int64) -> String {
    let isNegative = integer.hasPrefix("-")
    let digits = isNegative ? String(integer.dropFirst()) : integer
    let sign = isNegative ? "-" : ""
    switch exponent {
    case 0:
      return integer
    case 1...38:
      return sign + digits + String(repeating: "0", count: Int(exponent))
    case -38..<0:
      let places = Int(-exponent)
      let zeros = String(repeating: "0", count: max(0, places + 1 - digits.count))
      let padded = zeros + digits
      return sign + padded.dropLast(places) + "." + padded.suffix(places)
    default:
      return integer + "e" + exponent.description
    }
  }
}
