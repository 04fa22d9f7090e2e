/// Integers are read from integers, and from floats that have exactly their value.
extension FixedWidthInteger {
  fileprivate static func decodeInteger(from reader: inout CBORReader) throws -> Self {
    if let number = reader.takeSmallUnsigned() {
      if let value = Self(exactly: number) { return value }
      throw ModelError.inexact(self, String(number))
    }
    let start = reader
    let head = try reader.head()
    switch head.major {
    case .unsigned:
      if let value = Self(exactly: head.argument) { return value }
      throw ModelError.inexact(self, String(head.argument))
    case .negative:
      if let value = Self(exactly: -1 - Int128(head.argument)) { return value }
      throw ModelError.inexact(self, String(-1 - Int128(head.argument)))
    case .tag:
      reader = start
      return try decodeBignum(from: &reader, head)
    default:
      guard let double = head.double else { throw ModelError.mismatch("a number", head) }
      if let value = Self(exactly: double) { return value }
      throw ModelError.inexact(self, String(double))
    }
  }

  private static func decodeBignum(from reader: inout CBORReader, _ head: CBORHead) throws -> Self {
    guard let number = try reader.bignum() else { throw ModelError.mismatch("a number", head) }
    if number.isNegative {
      // −1 − n is the complement of the bits of n.
      if let magnitude = Int128(exactly: number.magnitude), let value = Self(exactly: ~magnitude) {
        return value
      }
    } else if let value = Self(exactly: number.magnitude) {
      return value
    }
    throw ModelError.inexact(self, "a number of more than 64 bits")
  }
}

extension CBORReader {
  /// Reads an integer in a tag: `magnitude`, or −1 − `magnitude`; `nil` if another tag comes.
  mutating func bignum() throws(CBORError) -> (isNegative: Bool, magnitude: UInt128)? {
    let tag = try tag()
    guard tag == RecordTag.positiveBignum || tag == RecordTag.negativeBignum else { return nil }
    var magnitude: UInt128 = 0
    for byte in unsafe [UInt8](try byteString()) {
      guard magnitude >> 120 == 0 else { throw error(.numberOutOfRange) }
      magnitude = magnitude << 8 | UInt128(byte)
    }
    return (tag == RecordTag.negativeBignum, magnitude)
  }
}

extension Int: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int {
    try decodeInteger(from: &reader)
  }
}

extension Int8: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int8 {
    try decodeInteger(from: &reader)
  }
}

extension Int16: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int16 {
    try decodeInteger(from: &reader)
  }
}

extension Int32: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int32 {
    try decodeInteger(from: &reader)
  }
}

extension Int64: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int64 {
    try decodeInteger(from: &reader)
  }
}

extension UInt: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt {
    try decodeInteger(from: &reader)
  }
}

extension UInt8: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt8 {
    try decodeInteger(from: &reader)
  }
}

extension UInt16: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt16 {
    try decodeInteger(from: &reader)
  }
}

extension UInt32: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt32 {
    try decodeInteger(from: &reader)
  }
}

extension UInt64: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt64 {
    try decodeInteger(from: &reader)
  }
}

extension Int128: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Int128 {
    try decodeInteger(from: &reader)
  }
}

extension UInt128: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> UInt128 {
    try decodeInteger(from: &reader)
  }
}
