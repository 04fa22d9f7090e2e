/// Integers of fixed width, up to 64 bits; their order is the order of the numbers.
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
  ///   - buffer: Where to write.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) {
    buffer.append(
      lowBytesOf: UInt64(truncatingIfNeeded: value) ^ Self.signBit, byteCount: Self.byteCount)
  }

  /// Reads a number back.
  ///
  /// - Parameter bytes: As many bytes as the type is wide.
  /// - Returns: The number.
  /// - Throws: ``LMDBError`` with code `undecodable` for another length.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    guard bytes.count == Self.byteCount else {
      throw LMDBError.undecodable(
        "\(Value.self)", "\(bytes.count) bytes instead of \(Self.byteCount)")
    }
    return Self.read(bytes, at: 0)
  }

  /// Writes a number in a tuple, the same way.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - buffer: Where to write.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) {
    encode(value, into: &buffer)
  }

  /// Reads a number of a tuple.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: Where the number begins; afterwards where it ends.
  /// - Returns: The number.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes end before.
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
