/// Turns values of one type into bytes and back.
///
/// ```swift
/// struct FlagCodec: ValueCodec {
///   func encode(_ value: Bool, into buffer: inout EncodingBuffer) { buffer.append(value ? 1 : 0) }
///   func decode(_ bytes: Span<UInt8>) -> Bool { bytes.count == 1 && bytes[0] == 1 }
/// }
/// let flags = try environment.table("flags", keys: .string, values: FlagCodec())
/// ```
///
/// Pando provides `.string`, `.bytes`, the integers (`.int64`, `.uint32`, …), `.tuple(…)` and
/// `.codable(…)`. A codec of your own implements these two methods.
///
/// - Note: Reading and writing threads call it, several at the same time.
public protocol ValueCodec<Value>: Sendable {
  /// The type of the encoded values.
  associatedtype Value

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: The buffer to write to.
  /// - Throws: An error if the value has no encoding.
  func encode(_ value: Value, into buffer: inout EncodingBuffer) throws

  /// Reads a value back.
  ///
  /// - Parameter bytes: All bytes that ``encode(_:into:)`` wrote.
  /// - Returns: The value.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes encode no such value.
  func decode(_ bytes: Span<UInt8>) throws -> Value
}

/// Turns keys into bytes whose order is the order of the keys.
///
/// ```swift
/// let scores = try environment.table("scores", keys: .tuple(.int32, .string), values: .bytes)
/// try environment.write { try $0.put([], forKey: (-5, "Ada"), in: scores) }  // before (3, "Bob")
/// ```
///
/// Every key codec also encodes values.
public protocol KeyCodec<Value>: ValueCodec {
  /// Writes a key as an element of a tuple.
  ///
  /// The order of the encoded tuples is the order of the keys, whatever elements follow.
  ///
  /// - Parameters:
  ///   - value: The key.
  ///   - buffer: The buffer to write to.
  /// - Throws: An error if the key has no encoding.
  func encodeElement(_ value: Value, into buffer: inout EncodingBuffer) throws

  /// Reads a key from a tuple.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the whole tuple.
  ///   - offset: The offset of the key; advanced past its end.
  /// - Returns: The key.
  /// - Throws: ``LMDBError`` with code `undecodable` if the bytes encode no such key.
  func decodeElement(_ bytes: Span<UInt8>, at offset: inout Int) throws -> Value
}

/// A buffer to which a codec appends bytes.
///
/// ```swift
/// func encode(_ value: Point, into buffer: inout EncodingBuffer) {
///   buffer.append(bigEndian: value.x)
///   buffer.append(bigEndian: value.y)
/// }
/// ```
///
/// The first 512 bytes are stored inline; only longer values allocate.
///
/// - Note: One thread at a time.
public struct EncodingBuffer: ~Copyable {
  private static let inlineByteCount = 512

  private var inline = InlineArray<512, UInt8>(repeating: 0)
  /// All bytes, once they no longer fit inline.
  private var spilled: [UInt8] = []
  /// The number of bytes written.
  public private(set) var count = 0

  /// Makes an empty buffer.
  public init() {}

  /// The bytes written so far.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      count <= Self.inlineByteCount ? inline.span.extracting(first: count) : spilled.span
    }
  }

  /// Writes one byte.
  ///
  /// - Parameter byte: The byte.
  public mutating func append(_ byte: UInt8) {
    if count < Self.inlineByteCount {
      inline[count] = byte
    } else {
      spill(reserving: 1)
      spilled.append(byte)
    }
    count += 1
  }

  /// Writes bytes.
  ///
  /// - Parameter bytes: The bytes, copied.
  /// - Complexity: O(*n*) for *n* bytes.
  public mutating func append(contentsOf bytes: Span<UInt8>) {
    if count + bytes.count <= Self.inlineByteCount {
      for index in bytes.indices { inline[count + index] = bytes[index] }
    } else {
      spill(reserving: bytes.count)
      unsafe bytes.withUnsafeBufferPointer { unsafe spilled.append(contentsOf: $0) }
    }
    count += bytes.count
  }

  /// Writes a number, most significant byte first.
  ///
  /// - Parameter value: A number of 1 to 8 whole bytes.
  public mutating func append(bigEndian value: some FixedWidthInteger) {
    append(
      lowBytesOf: UInt64(truncatingIfNeeded: value), byteCount: type(of: value).bitWidth / 8)
  }

  /// Writes the lowest bytes of a number, most significant byte first.
  mutating func append(lowBytesOf value: UInt64, byteCount: Int) {
    precondition((1...8).contains(byteCount), "a number of \(byteCount) bytes")
    for index in (0..<byteCount).reversed() {
      append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
    }
  }

  /// Moves the inline bytes to the heap.
  private mutating func spill(reserving byteCount: Int) {
    guard count <= Self.inlineByteCount, spilled.isEmpty else { return }
    spilled.reserveCapacity(Swift.max(2 * Self.inlineByteCount, count + byteCount))
    for index in 0..<count { spilled.append(inline[index]) }
  }
}
