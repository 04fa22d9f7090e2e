extension [UInt8] {
  /// Appends a double in the shortest form that keeps all its bits.
  mutating func appendDouble(_ value: Double) {
    guard value.fitsFloat else {
      append(0xfb)
      return appendBigEndian(value.bitPattern, byteCount: 8)
    }
    let single = Float(exactBitsOf: value)
    guard single.fitsFloat16 else {
      append(0xfa)
      return appendBigEndian(UInt64(single.bitPattern), byteCount: 4)
    }
    append(0xf9)
    appendBigEndian(UInt64(Float16(exactBitsOf: single).bitPattern), byteCount: 2)
  }
}

// A conversion by the processor makes every NaN a quiet one, so NaNs are moved bit by bit.

extension Double {
  /// Whether a `Float` holds the same number, or the same NaN with the same payload.
  var fitsFloat: Bool { Double(exactBitsOf: Float(exactBitsOf: self)).bitPattern == bitPattern }

  /// Makes a double of a narrower number, payload and all.
  init(exactBitsOf value: Float) {
    guard value.isNaN else {
      self.init(value)
      return
    }
    let bits = UInt64(value.bitPattern)
    self.init(bitPattern: (bits >> 31) << 63 | 0x7ff << 52 | (bits & 0x7f_ffff) << 29)
  }

  /// Makes a double of a narrower number, payload and all.
  init(exactBitsOf value: Float16) {
    self.init(exactBitsOf: Float(exactBitsOf: value))
  }
}

extension Float {
  /// Whether a `Float16` holds the same number, or the same NaN with the same payload.
  var fitsFloat16: Bool { Float(exactBitsOf: Float16(exactBitsOf: self)).bitPattern == bitPattern }

  /// Makes a float of a wider number; of a NaN it keeps the upper bits of the payload.
  init(exactBitsOf value: Double) {
    guard value.isNaN else {
      self.init(value)
      return
    }
    let bits = value.bitPattern
    self.init(
      bitPattern: UInt32(bits >> 63) << 31 | 0xff << 23 | UInt32(bits >> 29 & 0x7f_ffff))
  }

  /// Makes a float of a narrower number, payload and all.
  init(exactBitsOf value: Float16) {
    guard value.isNaN else {
      self.init(value)
      return
    }
    let bits = UInt32(value.bitPattern)
    self.init(bitPattern: (bits >> 15) << 31 | 0xff << 23 | (bits & 0x3ff) << 13)
  }
}

extension Float16 {
  /// Makes a half of a wider number; of a NaN it keeps the upper bits of the payload.
  init(exactBitsOf value: Float) {
    guard value.isNaN else {
      self.init(value)
      return
    }
    let bits = value.bitPattern
    self.init(
      bitPattern: UInt16(bits >> 31) << 15 | 0x1f << 10 | UInt16(bits >> 13 & 0x3ff))
  }
}
