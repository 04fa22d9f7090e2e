/// Text as UTF-8; the order is that of the Unicode scalars.
///
/// Nothing is normalized: two strings that Swift calls equal but that are spelled with other scalars
/// are two keys.
public struct StringCodec: KeyCodec {
  /// Makes the codec.
  public init() {}

  /// Writes text.
  ///
  /// - Parameters:
  ///   - value: The text.
  ///   - buffer: Where to write.
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

  /// Writes text and a mark of its end, as ``BytesCodec`` does.
  ///
  /// - Parameters:
  ///   - value: The text.
  ///   - buffer: Where to write.
  public func encodeElement(_ value: String, into buffer: inout EncodingBuffer) {
    BytesCodec.encodeElement(value.utf8Span.span, into: &buffer)
  }

  /// Reads text up to the mark of its end.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: Where the element begins; afterwards where the next one begins.
  /// - Returns: The text.
  /// - Throws: ``LMDBError`` with code `undecodable` if there is no mark or no UTF-8.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> String {
    let text = try BytesCodec().decodeElement(bytes, at: &offset)
    return try decode(text.span)
  }
}

extension ValueCodec where Self == StringCodec {
  /// Text as UTF-8.
  public static var string: Self { Self() }
}
