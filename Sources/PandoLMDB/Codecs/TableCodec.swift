/// How values of one type are written as bytes and read back; the bytes of keys define their order.
///
/// ```swift
/// let scores = try environment.table("scores", keys: .tuple(.int32, .string), values: .bytes)
/// try environment.write { try $0.put([], forKey: (-5, "Ada"), in: scores) }  // before (3, "Bob")
/// ```
///
/// Pando provides `.string`, `.bytes`, the integers (`.int64`, `.uint32`, …), `.tuple(…)` and
/// `.codable(…)`. The bytes of all but `.codable(…)` have the order of the values.
///
/// A codec of your own consists of two closures:
///
/// ```swift
/// let flags = try environment.table(
///   "flags", keys: .string,
///   values: TableCodec(
///     encode: { flag, buffer in buffer.append(flag ? 1 : 0) },
///     decode: { bytes in bytes.count == 1 && bytes[0] == 1 }))
/// ```
///
/// - Note: Reading and writing threads call the closures, several at the same time.
public struct TableCodec<Value>: Sendable {
  typealias Encoding = @Sendable (Value, inout EncodingBuffer) throws -> Void

  /// Writes a value.
  package let encode: @Sendable (Value, inout EncodingBuffer) throws -> Void
  /// Reads a value from all bytes that `encode` wrote.
  package let decode: @Sendable (Span<UInt8>) throws -> Value
  /// Writes a value as an element of a tuple, with a recognizable end.
  let encodeElement: Encoding
  /// Reads an element of a tuple, and advances the offset past its end.
  let decodeElement: @Sendable (_ tuple: Span<UInt8>, _ offset: inout Int) throws -> Value
  /// Writes the first elements of a tuple alone, for a range over them; `nil` for other values.
  private(set) var encodePrefix: (@Sendable ([Any], inout EncodingBuffer) throws -> Void)?

  /// Makes a codec.
  ///
  /// - Parameters:
  ///   - encode: Writes a value. It throws if the value has no encoding.
  ///   - decode: Reads a value from all bytes that `encode` wrote. It throws if they encode no value.
  public init(
    encode: @escaping @Sendable (_ value: Value, _ buffer: inout EncodingBuffer) throws -> Void,
    decode: @escaping @Sendable (_ bytes: Span<UInt8>) throws -> Value
  ) {
    self.init(
      encode, decode,
      encodeElement: { value, buffer in
        var element = EncodingBuffer()
        try encode(value, &element)
        buffer.append(terminated: element.bytes)
      },
      decodeElement: { tuple, offset in
        let element = try terminatedBytes(in: tuple, at: &offset)
        return try decode(element.span)
      })
  }

  init(
    _ encode: @escaping Encoding, _ decode: @escaping @Sendable (Span<UInt8>) throws -> Value,
    encodeElement: @escaping Encoding,
    decodeElement: @escaping @Sendable (Span<UInt8>, inout Int) throws -> Value
  ) {
    self.encode = encode
    self.decode = decode
    self.encodeElement = encodeElement
    self.decodeElement = decodeElement
  }

  /// Makes the codec of a tuple, whose elements are written one after the other.
  init(
    _ encode: @escaping Encoding,
    decodeElement: @escaping @Sendable (Span<UInt8>, inout Int) throws -> Value,
    encodePrefix: @escaping @Sendable ([Any], inout EncodingBuffer) throws -> Void
  ) {
    self.init(
      encode,
      { bytes in
        var offset = 0
        let value = try decodeElement(bytes, &offset)
        guard offset == bytes.count else {
          throw LMDBError.undecodable("tuple", "\(bytes.count - offset) bytes too many")
        }
        return value
      },
      encodeElement: encode, decodeElement: decodeElement)
    self.encodePrefix = encodePrefix
  }

  /// Writes an element of a tuple; the factory of the range has fixed its type.
  fileprivate func encodeElement(any element: Any, _ buffer: inout EncodingBuffer) throws {
    guard let element = element as? Value else {
      preconditionFailure("\(element) is no \(Value.self)")
    }
    try encodeElement(element, &buffer)
  }
}

extension TableCodec {
  /// Pairs; the first element that differs decides the order.
  ///
  /// ```swift
  /// let visits = try environment.table("visits", keys: .tuple(.string, .uint64), values: .string)
  /// try environment.write { try $0.put("home", forKey: ("Ada", 1), in: visits) }
  /// ```
  /// Longer tuples are tuples of tuples.
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  /// - Returns: The codec.
  public static func tuple<First, Second>(
    _ first: TableCodec<First>, _ second: TableCodec<Second>
  ) -> TableCodec where Value == (First, Second) {
    TableCodec(
      { value, buffer in
        try first.encodeElement(value.0, &buffer)
        try second.encodeElement(value.1, &buffer)
      },
      decodeElement: { bytes, offset in
        let one = try first.decodeElement(bytes, &offset)
        return (one, try second.decodeElement(bytes, &offset))
      },
      encodePrefix: { elements, buffer in
        try first.encodeElement(any: elements[0], &buffer)
      })
  }

  /// Triples; the first element that differs decides the order.
  ///
  /// ```swift
  /// let log = try environment.table(
  ///   "log", keys: .tuple(.string, .uint16, .uint64), values: .string)
  /// try environment.write { try $0.delete(in: .prefix("Ada", 2026), of: log) }
  /// ```
  ///
  /// - Parameters:
  ///   - first: The codec of the first element.
  ///   - second: The codec of the second element.
  ///   - third: The codec of the third element.
  /// - Returns: The codec.
  public static func tuple<First, Second, Third>(
    _ first: TableCodec<First>, _ second: TableCodec<Second>, _ third: TableCodec<Third>
  ) -> TableCodec where Value == (First, Second, Third) {
    TableCodec(
      { value, buffer in
        try first.encodeElement(value.0, &buffer)
        try second.encodeElement(value.1, &buffer)
        try third.encodeElement(value.2, &buffer)
      },
      decodeElement: { bytes, offset in
        let one = try first.decodeElement(bytes, &offset)
        let two = try second.decodeElement(bytes, &offset)
        return (one, two, try third.decodeElement(bytes, &offset))
      },
      encodePrefix: { elements, buffer in
        try first.encodeElement(any: elements[0], &buffer)
        if elements.count > 1 { try second.encodeElement(any: elements[1], &buffer) }
      })
  }
}
