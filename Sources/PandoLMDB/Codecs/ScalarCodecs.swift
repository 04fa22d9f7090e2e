import FoundationEssentials

/// Integers of fixed width, up to 64 bits; the byte order is the numeric order.
///
/// ```swift
/// let readings = try environment.table("readings", keys: .uint64, values: .int32)
/// try environment.write { try $0.put(-12, forKey: 1, in: readings) }
/// ```
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | width of the type | the number, most significant byte first; a signed one has its sign bit inverted, so that negative numbers come first |
public struct IntegerCodec<Value: FixedWidthInteger & Sendable>: KeyCodec {
  private static var byteCount: Int { Value.bitWidth / 8 }

  /// Makes the codec.
  ///
  /// - Precondition: The type is not wider than 64 bits.
  public init() {
    precondition(Value.bitWidth <= 64, "\(Value.self) is wider than 64 bits")
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - buffer: The buffer to write to.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) {
    buffer.append(
      lowBytesOf: UInt64(truncatingIfNeeded: value) ^ Self.signBit, byteCount: Self.byteCount)
  }

  /// Reads a number back.
  ///
  /// - Parameter bytes: The bytes, as many as the type is wide.
  /// - Returns: The number.
  /// - Throws: ``LMDBError`` with code `undecodable` if the length differs.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    guard bytes.count == Self.byteCount else {
      throw LMDBError.undecodable(
        "\(Value.self)", "\(bytes.count) bytes instead of \(Self.byteCount)")
    }
    return Self.read(bytes, at: 0)
  }

  /// Writes a number as an element of a tuple, with the same bytes.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - buffer: The buffer to write to.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) {
    encode(value, into: &buffer)
  }

  /// Reads a number from a tuple.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: The offset of the number; advanced past its end.
  /// - Returns: The number.
  /// - Throws: ``LMDBError`` with code `undecodable` if too few bytes are left.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value {
    guard bytes.count - offset >= Self.byteCount else {
      throw LMDBError.undecodable("\(Value.self)", "the key ends at byte \(bytes.count)")
    }
    defer { offset += Self.byteCount }
    return Self.read(bytes, at: offset)
  }

  private static var signBit: UInt64 {
    Value.isSigned ? 1 << UInt64(Value.bitWidth - 1) : 0
  }

  private static func read(_ bytes: Span<UInt8>, at offset: Int) -> Value {
    var value: UInt64 = 0
    for index in offset..<offset + byteCount { value = value << 8 | UInt64(bytes[index]) }
    return Value(truncatingIfNeeded: value ^ signBit)
  }
}

extension ValueCodec where Self == IntegerCodec<Int64> {
  /// Signed numbers of 64 bits.
  public static var int64: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<Int32> {
  /// Signed numbers of 32 bits.
  public static var int32: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<Int16> {
  /// Signed numbers of 16 bits.
  public static var int16: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<Int8> {
  /// Signed numbers of 8 bits.
  public static var int8: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<UInt64> {
  /// Unsigned numbers of 64 bits.
  public static var uint64: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<UInt32> {
  /// Unsigned numbers of 32 bits.
  public static var uint32: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<UInt16> {
  /// Unsigned numbers of 16 bits.
  public static var uint16: Self { Self() }
}

extension ValueCodec where Self == IntegerCodec<UInt8> {
  /// Unsigned numbers of 8 bits.
  public static var uint8: Self { Self() }
}

/// Text as UTF-8, ordered by Unicode scalars.
///
/// ```swift
/// let names = try environment.table("names", keys: .uint32, values: .string)
/// try environment.write { try $0.put("Ada", forKey: 7, in: names) }
/// ```
///
/// The codec does not normalize. Two strings that Swift calls equal but that consist of other
/// scalars are two keys.
public struct StringCodec: KeyCodec {
  /// Makes the codec.
  public init() {}

  /// Writes text.
  ///
  /// - Parameters:
  ///   - value: The text.
  ///   - buffer: The buffer to write to.
  public func encode(_ value: String, into buffer: inout EncodingBuffer) {
    buffer.append(contentsOf: value.utf8Span.span)
  }

  /// Reads text back.
  ///
  /// - Parameter bytes: UTF-8.
  /// - Returns: The text.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes are not UTF-8.
  public func decode(_ bytes: Span<UInt8>) throws -> String {
    guard
      let text = unsafe bytes.withUnsafeBufferPointer({
        unsafe String(validating: $0, as: UTF8.self)
      })
    else {
      throw LMDBError.undecodable("String", "not UTF-8")
    }
    return text
  }

  /// Writes text and a terminator, as ``BytesCodec`` does.
  ///
  /// - Parameters:
  ///   - value: The text.
  ///   - buffer: The buffer to write to.
  public func encodeElement(_ value: String, into buffer: inout EncodingBuffer) {
    BytesCodec.encodeElement(value.utf8Span.span, into: &buffer)
  }

  /// Reads text up to the terminator.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: The offset of the element; advanced past its end.
  /// - Returns: The text.
  /// - Throws: ``LMDBError`` with code `undecodable` if it has no terminator or is not UTF-8.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> String {
    let text = try BytesCodec().decodeElement(bytes, at: &offset)
    return try decode(text.span)
  }
}

extension ValueCodec where Self == StringCodec {
  /// Text as UTF-8.
  public static var string: Self { Self() }
}

/// Bytes as they are; a byte sequence sorts before its extensions.
///
/// ```swift
/// let images = try environment.table("images", keys: .string, values: .bytes)
/// try environment.write { try $0.put([0x89, 0x50], forKey: "a.png", in: images) }
/// ```
///
/// A tuple stores a byte 0 as 00 FF and ends the element with 00 01. The terminator sorts before
/// every byte that could follow.
public struct BytesCodec: KeyCodec {
  /// Makes the codec.
  public init() {}

  /// Writes bytes.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - buffer: The buffer to write to.
  public func encode(_ value: [UInt8], into buffer: inout EncodingBuffer) {
    buffer.append(contentsOf: value.span)
  }

  /// Reads bytes back.
  ///
  /// - Parameter bytes: Any bytes.
  /// - Returns: A copy of them.
  public func decode(_ bytes: Span<UInt8>) -> [UInt8] {
    unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
  }

  /// Writes bytes and a terminator.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - buffer: The buffer to write to.
  public func encodeElement(_ value: [UInt8], into buffer: inout EncodingBuffer) {
    Self.encodeElement(value.span, into: &buffer)
  }

  /// Reads bytes up to the terminator.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: The offset of the element; advanced past its end.
  /// - Returns: The bytes.
  /// - Throws: ``LMDBError`` with code `undecodable` if the terminator is missing.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> [UInt8] {
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

  static func encodeElement(_ bytes: Span<UInt8>, into buffer: inout EncodingBuffer) {
    for index in bytes.indices {
      buffer.append(bytes[index])
      if bytes[index] == 0 { buffer.append(0xFF) }
    }
    buffer.append(0x00)
    buffer.append(0x01)
  }
}

extension ValueCodec where Self == BytesCodec {
  /// Bytes as they are.
  public static var bytes: Self { Self() }
}

/// Any `Codable` value, as JSON with sorted keys.
///
/// ```swift
/// let people = try environment.table("people", keys: .uint64, values: .codable(Person.self))
/// try environment.write { try $0.put(ada, forKey: 7, in: people) }
/// ```
///
/// Equal values have equal bytes, and other tools can read them. The codec writes numbers that JSON
/// lacks as the strings `inf`, `-inf` and `nan`.
public struct CodableCodec<Value: Codable & Sendable>: ValueCodec {
  /// Makes the codec.
  public init() {}

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: The buffer to write to.
  /// - Throws: The error of the value's `encode(to:)`.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let json = try [UInt8](encoder.encode(value))
    buffer.append(contentsOf: json.span)
  }

  /// Reads a value back.
  ///
  /// - Parameter bytes: JSON.
  /// - Returns: The value.
  /// - Throws: ``LMDBError`` with code `undecodable` that names the part that does not fit.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
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

extension ValueCodec {
  /// Any `Codable` value.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The codec.
  public static func codable<Coded: Codable & Sendable>(
    _ type: Coded.Type
  ) -> CodableCodec<Coded> where Self == CodableCodec<Coded> {
    CodableCodec()
  }
}
