/// Pairs of keys; the first element that differs decides the order.
///
/// ```swift
/// let visits = try environment.table("visits", keys: .tuple(.string, .uint64), values: .string)
/// try environment.write { try $0.put("home", forKey: ("Ada", 1), in: visits) }
/// let page = try environment.read { try $0.value(forKey: ("Ada", 1), in: visits) }
/// ```
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

/// Triples of keys; the first element that differs decides the order.
///
/// ```swift
/// let log = try environment.table(
///   "log", keys: .tuple(.string, .uint16, .uint64), values: .string)
/// try environment.write { try $0.delete(in: .prefix("Ada", 2026), of: log) }
/// ```
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

/// What a range over the first elements of tuples needs.
protocol TuplePrefixCodec {
  /// Writes the first elements only.
  func encodePrefix(_ elements: [Any], into buffer: inout EncodingBuffer) throws
}

extension KeyCodec {
  /// Writes an element whose type the range has checked already.
  func encodePrefixElement(_ element: Any, into buffer: inout EncodingBuffer) throws {
    guard let element = element as? Value else {
      preconditionFailure("\(element) is no \(Value.self)")
    }
    try encodeElement(element, into: &buffer)
  }
}
