/// Triples of keys; the first element that differs decides the order.
///
/// The elements are written one after the other, each so that its end is known. Longer tuples are
/// tuples of tuples.
public struct TripleCodec<First: KeyCodec, Second: KeyCodec, Third: KeyCodec>: KeyCodec {
  /// What it encodes.
  public typealias Value = (First.Value, Second.Value, Third.Value)

  let first: First
  let second: Second
  let third: Third

  /// Makes the codec of a triple.
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  ///   - third: The codec of the third element.
  public init(_ first: First, _ second: Second, _ third: Third) {
    self.first = first
    self.second = second
    self.third = third
  }

  /// Writes a triple.
  ///
  /// - Parameters:
  ///   - value: The triple.
  ///   - buffer: Where to write.
  /// - Throws: What the codec of an element throws.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try first.encodeElement(value.0, into: &buffer)
    try second.encodeElement(value.1, into: &buffer)
    try third.encodeElement(value.2, into: &buffer)
  }

  /// Reads a triple back.
  ///
  /// - Parameter bytes: The bytes of the whole tuple.
  /// - Returns: The triple.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is not there or bytes are left.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    var offset = 0
    let value = try decodeElement(bytes, at: &offset)
    guard offset == bytes.count else {
      throw LMDBError.undecodable("tuple", "\(bytes.count - offset) bytes too many")
    }
    return value
  }

  /// Writes a triple in a tuple, the same way.
  ///
  /// - Parameters:
  ///   - value: The triple.
  ///   - buffer: Where to write.
  /// - Throws: What the codec of an element throws.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try encode(value, into: &buffer)
  }

  /// Reads a triple that others may follow.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the outer tuple.
  ///   - offset: Where the triple begins; afterwards where the next element begins.
  /// - Returns: The triple.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is not there.
  public func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value {
    let first = try self.first.decodeElement(bytes, at: &offset)
    let second = try self.second.decodeElement(bytes, at: &offset)
    let third = try self.third.decodeElement(bytes, at: &offset)
    return (first, second, third)
  }
}

extension TripleCodec: TuplePrefixCodec {
  func encodePrefix(_ elements: [Any], into buffer: inout EncodingBuffer) throws {
    try first.encodePrefixElement(elements[0], into: &buffer)
    if elements.count > 1 {
      try second.encodePrefixElement(elements[1], into: &buffer)
    }
  }
}

extension ValueCodec {
  /// Triples of keys; the first element that differs decides the order.
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  ///   - third: The codec of the third element.
  /// - Returns: The codec.
  public static func tuple<First, Second, Third>(
    _ first: First, _ second: Second, _ third: Third
  ) -> Self where Self == TripleCodec<First, Second, Third> {
    TripleCodec(first, second, third)
  }
}
