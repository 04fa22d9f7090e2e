import FoundationEssentials

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
