import FoundationEssentials

/// A type that this module decodes itself.
protocol RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or ``ModelError``.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self
}

/// A ``RecordDecodable`` that holds no other value, so that it needs nothing but its bytes.
protocol RecordScalarDecodable: RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or ``ModelError``.
  static func decodeScalar(from reader: inout CBORReader) throws -> Self
}

extension RecordScalarDecodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self {
    try decodeScalar(from: &reader)
  }
}

extension Bool: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Bool {
    let head = try reader.head()
    guard let value = head.bool else { throw ModelError.mismatch("a bool", head) }
    return value
  }
}

extension String: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> String {
    if let bytes = unsafe reader.takeShortText() {
      guard let text = unsafe String(utf8: bytes) else { throw reader.error(.badText) }
      return text
    }
    let head = try reader.head()
    guard head.major == .text else { throw ModelError.mismatch("a text", head) }
    guard let text = unsafe String(utf8: reader.bytes(of: head)) else {
      throw reader.error(.badText)
    }
    return text
  }
}

extension Double: RecordScalarDecodable {
  /// Doubles are read from floats, and from integers that a double holds exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Double {
    if let value = reader.takeWideDouble() { return value }
    let head = try reader.head()
    if let value = head.double { return value }
    switch head.major {
    case .unsigned:
      if let value = Double(exactly: head.argument) { return value }
      throw ModelError.inexact(self, String(head.argument))
    case .negative:
      let number = -1 - Int128(head.argument)
      if let value = Double(exactly: number) { return value }
      throw ModelError.inexact(self, String(number))
    default: throw ModelError.mismatch("a number", head)
    }
  }
}

extension Float: RecordScalarDecodable {
  /// Floats are read from what a double is read from, if they hold it exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Float {
    let double = try Double.decodeScalar(from: &reader)
    guard let value = Float(narrowing: double) else { throw ModelError.inexact(self, "\(double)") }
    return value
  }
}

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

extension Data: RecordDecodable {
  /// Data is read from a byte string, or an array of bytes.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Data {
    guard try reader.peek().major == .bytes else {
      return Data(try [UInt8].decodeRecord(from: &reader, in: session, level: level))
    }
    return unsafe Data(try reader.byteString())
  }
}

extension Date: RecordDecodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Date {
    Date(
      timeIntervalSinceReferenceDate: try Double.decodeRecord(
        from: &reader, in: session, level: level))
  }
}

extension UUID: RecordDecodable {
  /// A UUID is read from its tag, or a text.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> UUID {
    let start = reader
    let head = try reader.head()
    if head.major == .text, let id = UUID(uuidString: try start.peekText()) {
      reader.advance(by: Int(head.argument))
      return id
    }
    guard head.major == .tag, head.argument == RecordTag.uuid else {
      throw ModelError.mismatch("a UUID", head)
    }
    let bytes = unsafe try reader.byteString()
    guard bytes.count == 16 else { throw reader.error(.wrongKind) }
    // There are the 16 bytes that the tuple has.
    return unsafe UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

extension URL: RecordDecodable {
  /// A URL is read from its tag, a text, or a map of itself and its base.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> URL {
    if try reader.peek().major == .map {
      let value = try reader.itemReader()
      return try unsafe session.decodeInline(
        URL.self, TypeTable.traits(of: URL.self), from: value, level: level)
    }
    _ = try reader.take(tag: RecordTag.url)
    let text = try String.decodeRecord(from: &reader, in: session, level: level)
    guard let url = URL(string: text) else {
      throw ModelError(.typeMismatch, reason: "\"\(text)\" is no URL")
    }
    return url
  }
}

extension Decimal: RecordDecodable {
  /// A decimal is read from its tag, from integers, and from floats by their shortest digits.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Decimal {
    let head = try reader.peek()
    if let double = head.double {
      try reader.skip()
      if double.isNaN { return .nan }
      guard let value = Decimal(string: double.description), !value.isNaN else {
        throw ModelError.inexact(self, double.description)
      }
      return value
    }
    var exponent = 0
    if try reader.take(tag: RecordTag.decimalFraction) {
      guard try reader.arrayHead() == 2 else { throw reader.error(.wrongKind) }
      exponent = try Int.decodeRecord(from: &reader, in: session, level: level)
    }
    let number = try reader.integer()
    let magnitude = number.magnitude.addingReportingOverflow(number.isNegative ? 1 : 0)
    guard !magnitude.overflow,
      let value = Decimal(
        isNegative: number.isNegative, magnitude: magnitude.partialValue, exponent: exponent)
    else { throw ModelError.inexact(self, "a number with so many digits") }
    return value
  }
}

extension CBORReader {
  /// Reads an integer of up to 128 bits: `magnitude`, or −1 − `magnitude`.
  fileprivate mutating func integer() throws -> (isNegative: Bool, magnitude: UInt128) {
    let head = try peek()
    switch head.major {
    case .unsigned, .negative:
      try skip()
      return (head.major == .negative, UInt128(head.argument))
    case .tag:
      if let number = try bignum() { return number }
      throw ModelError.mismatch("a number", head)
    default: throw ModelError.mismatch("a number", head)
    }
  }

  /// The text that comes next.
  fileprivate func peekText() throws(CBORError) -> String {
    var copy = self
    return try copy.text()
  }
}
