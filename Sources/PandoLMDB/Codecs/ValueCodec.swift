/// Turns values of one type into bytes and back.
///
/// Ready-made ones: `.string`, `.bytes`, the integers (`.int64`, `.uint32`, …), `.tuple(…)`,
/// `.codable(…)`. A type of its own conforms with these two methods.
public protocol ValueCodec<Value>: Sendable {
  /// The type it encodes.
  associatedtype Value

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Where to write.
  /// - Throws: An error if the value has no encoding.
  func encode(_ value: Value, into buffer: inout EncodingBuffer) throws

  /// Reads a value back.
  ///
  /// - Parameter bytes: All bytes that ``encode(_:into:)`` wrote.
  /// - Returns: The value.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes are no such value.
  func decode(_ bytes: Span<UInt8>) throws -> Value
}

/// Turns keys into bytes whose order is the order of the keys.
///
/// Every key codec can be used for values, too.
public protocol KeyCodec<Value>: ValueCodec {
  /// Writes a key so that another one can follow, in a tuple.
  ///
  /// Whatever follows, the order of what is written stays the order of the keys.
  ///
  /// - Parameters:
  ///   - value: The key.
  ///   - buffer: Where to write.
  /// - Throws: An error if the key has no encoding.
  func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws

  /// Reads a key that others may follow.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: Where the key begins; afterwards where the next one begins.
  /// - Returns: The key.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes are no such key.
  func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value
}

extension LMDBError {
  /// The error of bytes that are no value of the type asked for.
  static func undecodable(_ type: String, _ reason: String) -> LMDBError {
    LMDBError(.undecodable, function: type, detail: reason)
  }
}
