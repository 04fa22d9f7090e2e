package import FoundationEssentials

extension Decimal {
  /// The number as digits and power of ten, with the fewest digits: equal numbers have equal parts.
  ///
  /// Undefined for not-a-number.
  package var parts: (magnitude: UInt128, exponent: Int) {
    var magnitude = Self.hasKnownLayout ? mantissaInMemory : printedMantissa
    if magnitude == 0 { return (0, 0) }
    var exponent = exponent
    while exponent < 127 {
      let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { break }
      magnitude = quotient
      exponent += 1
    }
    return (magnitude, exponent)
  }

  /// Makes the number ±`magnitude` × 10^`exponent`.
  ///
  /// - Returns: `nil` if the exponent is out of range.
  package init?(isNegative: Bool, magnitude: UInt128, exponent: Int) {
    guard (-128...127).contains(exponent) else { return nil }
    var significand = Decimal(UInt64(truncatingIfNeeded: magnitude))
    if magnitude >> 64 != 0 {
      significand +=
        Decimal(UInt64(truncatingIfNeeded: magnitude >> 64)) * (Decimal(UInt64.max) + 1)
    }
    self.init(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
  }

  /// The mantissa by public API, which returns it as text only: at most 39 digits.
  private var printedMantissa: UInt128 { UInt128(significand.description) ?? 0 }

  /// The mantissa, its last sixteen bytes.
  ///
  /// A hundred times faster than the text; see ``hasKnownLayout``.
  private var mantissaInMemory: UInt128 {
    // In bounds, as the size is known to be 20.
    unsafe withUnsafeBytes(of: self) { bytes in
      UInt128(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt128.self))
    }
  }

  /// Whether a decimal has 20 bytes in memory and ends with its mantissa; compared once with the
  /// texts of numbers that use all bytes.
  private static let hasKnownLayout: Bool = {
    guard MemoryLayout<Decimal>.size == 20 else { return false }
    let texts = ["1", "-9.99", "7e-128", "1234567890.0987654321e99", "-18446744073709551617"]
    let numbers = texts.compactMap { Decimal(string: $0) } + [.greatestFiniteMagnitude, 0]
    return numbers.allSatisfy { $0.mantissaInMemory == $0.printedMantissa }
  }()
}
