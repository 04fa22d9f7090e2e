/// Fixed-width integers in rows: big endian in keys, so that byte order is number order, and little
/// endian in values.
enum ByteFields {
  /// Reads a big-endian integer from a key.
  ///
  /// - Returns: `nil` when fewer than eight bytes are left at the offset.
  static func bigEndian(_ bytes: Span<UInt8>, at offset: Int) -> UInt64? {
    guard offset >= 0, bytes.count - 8 >= offset else { return nil }
    // In bounds by the line above.
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return UInt64(bigEndian: value)
  }

  /// Reads a little-endian integer of up to eight bytes from a value.
  ///
  /// - Returns: `nil` when fewer than `width` bytes are left at the offset.
  static func littleEndian(_ bytes: Span<UInt8>, at offset: Int, width: Int) -> UInt64? {
    guard offset >= 0, bytes.count - width >= offset else { return nil }
    if width == 8 {
      // In bounds by the line above.
      return unsafe UInt64(
        littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var value: UInt64 = 0
    for index in stride(from: offset + width - 1, through: offset, by: -1) {
      value = value << 8 | UInt64(bytes[index])
    }
    return value
  }

  /// Appends a little-endian integer to a value.
  static func append(_ value: UInt64, width: Int, to bytes: inout [UInt8]) {
    for shift in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
  }
}
