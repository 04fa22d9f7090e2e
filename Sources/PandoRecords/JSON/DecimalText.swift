/// The digits of a decimal number.
package enum DecimalText {
  /// Moves the decimal point, or writes an exponent if that would need many zeros.
  ///
  /// - Parameters:
  ///   - integer: An integer in decimal.
  ///   - exponent: The power of ten by which it is multiplied.
  /// - Returns: The text of the number, all digits of it.
  package static func text(_ integer: String, exponent: Int64) -> String {
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
