/// A buffer to which a codec appends bytes.
///
/// ```swift
/// let encode: @Sendable (Point, inout EncodingBuffer) -> Void = { point, buffer in
///   buffer.append(bigEndian: point.x)
///   buffer.append(bigEndian: point.y)
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
