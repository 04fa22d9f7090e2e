/// Bytes as they are; in order, a byte sequence comes before its extensions.
///
/// In a tuple a byte 0 is written as 00 FF, and 00 01 marks the end: so the end sorts before every
/// byte that could follow.
public struct BytesCodec: KeyCodec {
  /// Makes the codec.
  public init() {}

  /// Writes bytes.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - buffer: Where to write.
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

  /// Writes bytes and a mark of their end.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - buffer: Where to write.
  public func encodeElement(_ value: [UInt8], into buffer: inout EncodingBuffer) {
    Self.encodeElement(value.span, into: &buffer)
  }

  /// Reads bytes up to the mark of their end.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: Where the element begins; afterwards where the next one begins.
  /// - Returns: The bytes.
  /// - Throws: ``LMDBError`` with code `undecodable` if there is no mark.
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
