/// Pairs of keys; the first element that differs decides the order.
///
/// The elements are written one after the other, each so that its end is known. Longer tuples are
/// tuples of tuples.
public struct PairCodec<First: KeyCodec, Second: KeyCodec>: KeyCodec {
  /// What it encodes.
  public typealias Value = (First.Value, Second.Value)

  let first: First
  let second: Second

  /// Makes the codec of a pair.
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  /// Writes a pair.
  ///
  /// - Parameters:
  ///   - value: The pair.
  ///   - buffer: Where to write.
  /// - Throws: What the codec of an element throws.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try first.encodeElement(value.0, into: &buffer)
    try second.encodeElement(value.1, into: &buffer)
  }

  /// Reads a pair back.
  ///
  /// - Parameter bytes: The bytes of the whole tuple.
  /// - Returns: The pair.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is not there or bytes are left.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    var offset = 0
    let value = try decodeElement(bytes, at: &offset)
    guard offset == bytes.count else {
      throw LMDBError.undecodable("tuple", "\(bytes.count - offset) bytes too many")
    }
    return value
  }

  /// Writes a pair in a tuple, the same way.
  ///
  /// - Parameters:
  ///   - value: The pair.
  ///   - buffer: Where to write.
  /// - Throws: What the codec of an element throws.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try encode(value, into: &buffer)
  }

  /// Reads a pair that others may follow.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the outer tuple.
  ///   - offset: Where the pair begins; afterwards where the next element begins.
  /// - Returns: The pair.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is not there.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value {
    let first = try self.first.decodeElement(bytes, at: &offset)
    let second = try self.second.decodeElement(bytes, at: &offset)
    return (first, second)
  }
}

extension PairCodec: TuplePrefixCodec {
  func encodePrefix(_ elements: [Any], into buffer: inout EncodingBuffer) throws {
    try first.encodePrefixElement(elements[0], into: &buffer)
  }
}

extension ValueCodec {
  /// Pairs of keys; the first element that differs decides the order.
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  /// - Returns: The codec.
  public static func tuple<First, Second>(
    _ first: First, _ second: Second
  ) -> Self where Self == PairCodec<First, Second> {
    PairCodec(first, second)
  }
}
