/// Pairs of keys; the first element that differs decides the order.
///
/// ```swift
/// let visits = try environment.table("visits", keys: .tuple(.string, .uint64), values: .string)
/// try environment.write { try $0.put("home", forKey: ("Ada", 1), in: visits) }
/// let page = try environment.read { try $0.value(forKey: ("Ada", 1), in: visits) }
/// ```
///
/// The codec writes the elements one after the other, each with a recognizable end. Longer tuples
/// are tuples of tuples.
public struct PairCodec<First: KeyCodec, Second: KeyCodec>: KeyCodec {
  /// The type of the pair.
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
  ///   - buffer: The buffer to write to.
  /// - Throws: The error of an element's codec.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try first.encodeElement(value.0, into: &buffer)
    try second.encodeElement(value.1, into: &buffer)
  }

  /// Reads a pair back.
  ///
  /// - Parameter bytes: The bytes of the whole tuple.
  /// - Returns: The pair.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is missing or bytes are left.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    var offset = 0
    let value = try decodeElement(bytes, at: &offset)
    guard offset == bytes.count else {
      throw LMDBError.undecodable("tuple", "\(bytes.count - offset) bytes too many")
    }
    return value
  }

  /// Writes a pair as an element of a tuple, with the same bytes.
  ///
  /// - Parameters:
  ///   - value: The pair.
  ///   - buffer: The buffer to write to.
  /// - Throws: The error of an element's codec.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try encode(value, into: &buffer)
  }

  /// Reads a pair from an outer tuple.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the outer tuple.
  ///   - offset: The offset of the pair; advanced past its end.
  /// - Returns: The pair.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is missing.
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
/// The codec writes the elements one after the other, each with a recognizable end. Longer tuples
/// are tuples of tuples.
public struct TripleCodec<First: KeyCodec, Second: KeyCodec, Third: KeyCodec>: KeyCodec {
  /// The type of the triple.
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
  ///   - buffer: The buffer to write to.
  /// - Throws: The error of an element's codec.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try first.encodeElement(value.0, into: &buffer)
    try second.encodeElement(value.1, into: &buffer)
    try third.encodeElement(value.2, into: &buffer)
  }

  /// Reads a triple back.
  ///
  /// - Parameter bytes: The bytes of the whole tuple.
  /// - Returns: The triple.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is missing or bytes are left.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    var offset = 0
    let value = try decodeElement(bytes, at: &offset)
    guard offset == bytes.count else {
      throw LMDBError.undecodable("tuple", "\(bytes.count - offset) bytes too many")
    }
    return value
  }

  /// Writes a triple as an element of a tuple, with the same bytes.
  ///
  /// - Parameters:
  ///   - value: The triple.
  ///   - buffer: The buffer to write to.
  /// - Throws: The error of an element's codec.
  public func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws {
    try encode(value, into: &buffer)
  }

  /// Reads a triple from an outer tuple.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the outer tuple.
  ///   - offset: The offset of the triple; advanced past its end.
  /// - Returns: The triple.
  /// - Throws: ``LMDBError`` with code `undecodable` if an element is missing.
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

/// A tuple codec that can encode the first elements alone, for a range over them.
protocol TuplePrefixCodec {
  /// Writes the first elements only.
  func encodePrefix(_ elements: [Any], into buffer: inout EncodingBuffer) throws
}

extension KeyCodec {
  /// Writes an element; the factory of the range has fixed its type.
  func encodePrefixElement(_ element: Any, into buffer: inout EncodingBuffer) throws {
    guard let element = element as? Value else {
      preconditionFailure("\(element) is no \(Value.self)")
    }
    try encodeElement(element, into: &buffer)
  }
}
