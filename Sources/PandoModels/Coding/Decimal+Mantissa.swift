import FoundationEssentials

extension Decimal {
  /// The number as digits and power of ten, with the fewest digits: equal numbers give equal parts.
  ///
  /// Not for what is no number.
  var parts: (exponent: Int, magnitude: UInt128) {
    // Public API tells the digits as text only; a significand has at most 39 of them.
    guard var magnitude = UInt128(significand.description), magnitude > 0 else { return (0, 0) }
    var exponent = exponent
    while magnitude % 10 == 0 && exponent < 127 {
      magnitude /= 10
      exponent += 1
    }
    return (exponent, magnitude)
  }

  /// Makes the number ±`magnitude` × 10^`exponent`.
  ///
  /// - Returns: `nil` if the exponent is out of range.
  init?(isNegative: Bool, magnitude: UInt128, exponent: Int) {
    guard (-128...127).contains(exponent) else { return nil }
    let high = Decimal(UInt64(truncatingIfNeeded: magnitude >> 64))
    let low = Decimal(UInt64(truncatingIfNeeded: magnitude))
    let significand = high * (Decimal(UInt64.max) + 1) + low
    self.init(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
  }
}
