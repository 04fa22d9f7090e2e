/// The shortest of the three CBOR widths that keeps every bit of a float.
package enum FloatWidth: Equatable, Sendable {
  case half(UInt16)
  case single(UInt32)
  case double(UInt64)
}

/// Conversions between IEEE 754 widths by bits alone, so that signs, subnormals and the payloads of
/// NaNs are preserved (a processor's conversion makes a signalling NaN quiet).
extension Double {
  /// The shortest form that widens back to the same bits.
  package var shortestWidth: FloatWidth {
    let bits = bitPattern
    let sign = bits >> 63
    let exponent = Int((bits >> 52) & 0x7FF)
    let fraction = bits & 0xF_FFFF_FFFF_FFFF
    // A half has 42 fraction bits fewer, a single 29.
    guard fraction & ((1 << 29) - 1) == 0 || exponent < 1023 - 126 else { return .double(bits) }
    if exponent == 0x7FF {
      guard fraction & ((1 << 42) - 1) == 0 else {
        return .single(UInt32(sign << 31 | 0x7F80_0000 | fraction >> 29))
      }
      return .half(UInt16(sign << 15 | 0x7C00 | fraction >> 42))
    }
    if exponent == 0 {
      return fraction == 0 ? .half(UInt16(sign << 15)) : .double(bits)
    }
    if let half = Self.narrowed(
      exponent: exponent - 1023, fraction: fraction, bias: 15, fractionWidth: 10)
    {
      return .half(UInt16(sign << 15 | half))
    }
    if let single = Self.narrowed(
      exponent: exponent - 1023, fraction: fraction, bias: 127, fractionWidth: 23)
    {
      return .single(UInt32(sign << 31 | single))
    }
    return .double(bits)
  }

  /// Exponent and fraction bits of a finite nonzero number in a narrower format, if it fits.
  private static func narrowed(
    exponent: Int, fraction: UInt64, bias: Int, fractionWidth: Int
  ) -> UInt64? {
    let dropped = UInt64(52 - fractionWidth)
    if exponent > bias { return nil }
    if exponent >= 1 - bias {
      guard fraction & ((1 << dropped) - 1) == 0 else { return nil }
      return UInt64(exponent + bias) << UInt64(fractionWidth) | fraction >> dropped
    }
    // Subnormal there: the leading one becomes a bit of the fraction.
    let shift = Int(dropped) + (1 - bias - exponent)
    guard shift <= 52 else { return nil }
    let significand = fraction | 1 << 52
    guard significand & ((1 << UInt64(shift)) - 1) == 0 else { return nil }
    return significand >> UInt64(shift)
  }

  /// Makes the number of a half's bits.
  package init(widening half: UInt16) {
    let bits = UInt64(half)
    self.init(
      widening: bits >> 15, exponent: Int(bits >> 10 & 0x1F), fraction: bits & 0x3FF,
      exponentMaximum: 0x1F, fractionWidth: 10)
  }

  /// Makes the number of a single's bits.
  package init(widening single: UInt32) {
    let bits = UInt64(single)
    self.init(
      widening: bits >> 31, exponent: Int(bits >> 23 & 0xFF), fraction: bits & 0x7F_FFFF,
      exponentMaximum: 0xFF, fractionWidth: 23)
  }

  private init(
    widening sign: UInt64, exponent: Int, fraction: UInt64, exponentMaximum: Int,
    fractionWidth: Int
  ) {
    let added = UInt64(52 - fractionWidth)
    let bias = exponentMaximum >> 1
    var wide = UInt64(exponent - bias + 1023)
    var fraction = fraction << added
    if exponent == exponentMaximum {
      wide = 0x7FF
    } else if exponent == 0 && fraction == 0 {
      wide = 0
    } else if exponent == 0 {
      // Subnormal: shift until the leading one falls out of the fraction.
      let shift = fraction.leadingZeroBitCount - 11
      fraction = fraction << UInt64(shift) & 0xF_FFFF_FFFF_FFFF
      wide = UInt64(1 - bias + 1023 - shift)
    }
    self.init(bitPattern: sign << 63 | wide << 52 | fraction)
  }
}

extension Float {
  /// Makes the float with the same bits, if the double was widened from one.
  package init?(narrowing double: Double) {
    switch double.shortestWidth {
    case .half(let bits):
      let wide = Double(widening: bits).bitPattern
      self = Self.single(fromWide: wide)
    case .single(let bits): self.init(bitPattern: bits)
    case .double: return nil
    }
  }

  /// The double with the same sign, value and payload.
  package var widened: Double { Double(widening: bitPattern) }

  private static func single(fromWide bits: UInt64) -> Float {
    let double = Double(bitPattern: bits)
    guard double.isNaN else { return Float(double) }
    let fraction = UInt32(truncatingIfNeeded: bits >> 29) & 0x7F_FFFF
    return Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 63) << 31 | 0x7F80_0000 | fraction)
  }
}
