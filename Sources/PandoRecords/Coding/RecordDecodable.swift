import FoundationEssentials
import PandoModels

/// A type that this module decodes itself.
protocol RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or `ModelError`.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self
}

/// A ``RecordDecodable`` without nested values, which needs only its bytes.
protocol RecordScalarDecodable: RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or `ModelError`.
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
  /// Doubles are read from floats, and from integers that a double represents exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Double {
    if let value = reader.takeDouble() { return value }
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
  /// Floats are read like doubles, if they represent the value exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Float {
    let double = try Double.decodeScalar(from: &reader)
    guard let value = Float(narrowing: double) else { throw ModelError.inexact(self, "\(double)") }
    return value
  }
}

/// Integers are read from integers, and from floats of exactly their value.
extension FixedWidthInteger {
  fileprivate static func decodeInteger(from reader: inout CBORReader) throws -> Self {
    if let number = reader.takeSmallUnsigned() {
      if let value = Self(exactly: number) { return value }
      throw ModelError.inexact(self, String(number))
    }
    let start = reader
    let number = try reader.integralNumber(self)
    if number.isNegative {
      // −1 − n is the complement of the bits of n.
      if let argument = Int128(exactly: number.argument), let value = Self(exactly: ~argument) {
        return value
      }
    } else if let value = Self(exactly: number.argument) {
      return value
    }
    throw start.inexact(self)
  }
}

extension CBORReader {
  /// Reads a number without fraction: `argument`, or −1 − `argument`.
  @inline(never)
  fileprivate mutating func integralNumber(
    _ type: Any.Type
  ) throws -> (isNegative: Bool, argument: UInt128) {
    let start = self
    let head = try head()
    switch head.major {
    case .unsigned, .negative: return (head.major == .negative, UInt128(head.argument))
    case .tag:
      self = start
      if let number = try bignum() { return (number.isNegative, number.magnitude) }
    default:
      guard let double = head.double else { break }
      guard let magnitude = UInt128(exactly: double.magnitude) else { throw start.inexact(type) }
      return double < 0 ? (true, magnitude - 1) : (false, magnitude)
    }
    throw ModelError.mismatch("a number", head)
  }

  /// The error of the next number, which does not fit a type.
  @inline(never)
  fileprivate func inexact(_ type: Any.Type) -> any Error {
    do {
      let head = try peek()
      let number =
        switch head.major {
        case .unsigned: String(head.argument)
        case .negative: String(-1 - Int128(head.argument))
        case .tag: "a number of more than 64 bits"
        default: String(head.double ?? .nan)
        }
      return ModelError.inexact(type, number)
    } catch {
      return error
    }
  }
}

extension CBORReader {
  /// Reads an integer in a tag: `magnitude`, or −1 − `magnitude`; `nil` for another tag.
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

extension RecordScalarDecodable where Self: FixedWidthInteger {
  static func decodeScalar(from reader: inout CBORReader) throws -> Self {
    try decodeInteger(from: &reader)
  }
}

extension Int: RecordScalarDecodable {}
extension Int8: RecordScalarDecodable {}
extension Int16: RecordScalarDecodable {}
extension Int32: RecordScalarDecodable {}
extension Int64: RecordScalarDecodable {}
extension UInt: RecordScalarDecodable {}
extension UInt8: RecordScalarDecodable {}
extension UInt16: RecordScalarDecodable {}
extension UInt32: RecordScalarDecodable {}
extension UInt64: RecordScalarDecodable {}
extension Int128: RecordScalarDecodable {}
extension UInt128: RecordScalarDecodable {}

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
    // The tuple has 16 bytes, and they exist.
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
    let number = try reader.integralNumber(self)
    let magnitude = number.argument.addingReportingOverflow(number.isNegative ? 1 : 0)
    guard !magnitude.overflow,
      let value = Decimal(
        isNegative: number.isNegative, magnitude: magnitude.partialValue, exponent: exponent)
    else { throw ModelError.inexact(self, "a number with so many digits") }
    return value
  }
}

extension CBORReader {
  /// The next item, a text.
  fileprivate func peekText() throws(CBORError) -> String {
    var copy = self
    return try copy.text()
  }
}
