import FoundationEssentials

extension TableCodec where Value: FixedWidthInteger & Sendable {
  /// Integers of up to 64 bits; the byte order is the numeric order.
  ///
  /// | offset | size | meaning |
  /// |---|---|---|
  /// | 0 | width of the type | the number, most significant byte first; a signed one has its sign bit inverted, so that negative numbers come first |
  fileprivate static func integer() -> Self {
    Self(
      { value, buffer in buffer.append(integer: value) }, { bytes in try integer(bytes) },
      encodeElement: { value, buffer in buffer.append(integer: value) },
      decodeElement: { bytes, offset in try integer(bytes, at: &offset) })
  }

  private static func integer(_ bytes: Span<UInt8>) throws -> Value {
    guard bytes.count == Value.bitWidth / 8 else {
      throw LMDBError.undecodable(
        "\(Value.self)", "\(bytes.count) bytes instead of \(Value.bitWidth / 8)")
    }
    var offset = 0
    return try integer(bytes, at: &offset)
  }

  private static func integer(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value {
    let end = offset + Value.bitWidth / 8
    guard end <= bytes.count else {
      throw LMDBError.undecodable("\(Value.self)", "the key ends at byte \(bytes.count)")
    }
    var value: UInt64 = 0
    while offset < end {
      value = value << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return Value(truncatingIfNeeded: value ^ Value.signBit)
  }
}

extension FixedWidthInteger {
  fileprivate static var signBit: UInt64 { isSigned ? 1 << UInt64(bitWidth - 1) : 0 }
}

extension TableCodec where Value == Int64 {
  /// Signed numbers of 64 bits.
  public static var int64: Self { integer() }
}

extension TableCodec where Value == Int32 {
  /// Signed numbers of 32 bits.
  public static var int32: Self { integer() }
}

extension TableCodec where Value == Int16 {
  /// Signed numbers of 16 bits.
  public static var int16: Self { integer() }
}

extension TableCodec where Value == Int8 {
  /// Signed numbers of 8 bits.
  public static var int8: Self { integer() }
}

extension TableCodec where Value == UInt64 {
  /// Unsigned numbers of 64 bits.
  public static var uint64: Self { integer() }
}

extension TableCodec where Value == UInt32 {
  /// Unsigned numbers of 32 bits.
  public static var uint32: Self { integer() }
}

extension TableCodec where Value == UInt16 {
  /// Unsigned numbers of 16 bits.
  public static var uint16: Self { integer() }
}

extension TableCodec where Value == UInt8 {
  /// Unsigned numbers of 8 bits.
  public static var uint8: Self { integer() }
}

extension TableCodec where Value == String {
  /// Text as UTF-8, ordered by Unicode scalars.
  ///
  /// The codec does not normalize. Two strings that Swift calls equal but that consist of other
  /// scalars are two keys.
  public static var string: Self {
    Self(
      { value, buffer in buffer.append(contentsOf: value.utf8Span.span) },
      { bytes in try text(bytes) },
      encodeElement: { value, buffer in buffer.append(terminated: value.utf8Span.span) },
      decodeElement: { bytes, offset in
        let element = try terminatedBytes(in: bytes, at: &offset)
        return try text(element.span)
      })
  }

  private static func text(_ bytes: Span<UInt8>) throws -> String {
    guard
      let text = unsafe bytes.withUnsafeBufferPointer({
        unsafe String(validating: $0, as: UTF8.self)
      })
    else {
      throw LMDBError.undecodable("String", "not UTF-8")
    }
    return text
  }
}

extension TableCodec where Value == [UInt8] {
  /// Bytes as they are; a byte sequence sorts before its extensions.
  public static var bytes: Self {
    Self(
      encode: { value, buffer in buffer.append(contentsOf: value.span) },
      decode: { bytes in copied(bytes) })
  }
}

extension TableCodec where Value: Codable & Sendable {
  /// Any `Codable` value, as JSON with sorted keys.
  ///
  /// ```swift
  /// let people = try environment.table("people", keys: .uint64, values: .codable(Person.self))
  /// try environment.write { try $0.put(ada, forKey: 7, in: people) }
  /// ```
  /// Equal values have equal bytes, and other tools can read them. The codec writes numbers that JSON
  /// lacks as the strings `inf`, `-inf` and `nan`. The order of the bytes has no meaning.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The codec.
  public static func codable(_ type: Value.Type) -> Self {
    Self(
      encode: { value, buffer in
        let json = try json(value)
        buffer.append(contentsOf: json.span)
      },
      decode: { bytes in try value(json: bytes) })
  }

  private static func json(_ value: Value) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try [UInt8](encoder.encode(value))
  }

  private static func value(json bytes: Span<UInt8>) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      let json = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
      return try decoder.decode(Value.self, from: json)
    } catch {
      throw LMDBError.undecodable("\(Value.self)", "\(error)")
    }
  }
}

/// A copy of bytes.
func copied(_ bytes: Span<UInt8>) -> [UInt8] {
  unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
}

extension EncodingBuffer {
  fileprivate mutating func append<Value: FixedWidthInteger>(integer value: Value) {
    append(
      lowBytesOf: UInt64(truncatingIfNeeded: value) ^ Value.signBit,
      byteCount: Value.bitWidth / 8)
  }

  /// Writes bytes as an element of a tuple.
  ///
  /// A byte 0 is stored as 00 FF, and the element ends with 00 01. This end sorts before every byte
  /// that could follow.
  mutating func append(terminated bytes: Span<UInt8>) {
    for index in bytes.indices {
      append(bytes[index])
      if bytes[index] == 0 { append(0xFF) }
    }
    append(0x00)
    append(0x01)
  }
}

/// Reads bytes of a tuple up to their end, and advances the offset past it.
func terminatedBytes(in bytes: Span<UInt8>, at offset: inout Int) throws -> [UInt8] {
  var result: [UInt8] = []
  while offset + 1 < bytes.count {
    let byte = bytes[offset]
    if byte != 0 {
      result.append(byte)
      offset += 1
      continue
    }
    let next = bytes[offset + 1]
    offset += 2
    if next == 0x01 { return result }
    guard next == 0xFF else {
      throw LMDBError.undecodable("tuple", "00 \(next) at byte \(offset - 2)")
    }
    result.append(0)
  }
  throw LMDBError.undecodable("tuple", "no end of an element before byte \(bytes.count)")
}
