/// Integers of fixed width in rows: little-endian in values, and big-endian in keys, so that byte order is numeric order.
extension Span<UInt8> {
  /// Reads a little-endian integer.
  ///
  /// - Parameters:
  ///   - offset: The place of its first byte.
  ///   - width: The number of its bytes, at most 8.
  /// - Returns: `nil` if fewer than `width` bytes are left at the offset.
  package func littleEndian(at offset: Int, width: Int = 8) -> UInt64? {
    guard offset >= 0, count - width >= offset else { return nil }
    if width == 8 {
      // In bounds by the line above.
      return unsafe UInt64(
        littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var value: UInt64 = 0
    for index in stride(from: offset + width - 1, through: offset, by: -1) {
      value = value << 8 | UInt64(self[index])
    }
    return value
  }

  /// Reads a big-endian integer of eight bytes.
  ///
  /// - Parameter offset: The place of its first byte.
  /// - Returns: `nil` if fewer than eight bytes are left at the offset.
  package func bigEndian(at offset: Int) -> UInt64? { littleEndian(at: offset)?.byteSwapped }
}

extension [UInt8] {
  /// Makes a value of integers of eight bytes each, little-endian.
  ///
  /// - Parameter values: The integers.
  package init(littleEndian values: UInt64...) {
    self = []
    reserveCapacity(8 * values.count)
    for value in values { append(littleEndian: value) }
  }

  /// Appends the lower bytes of an integer, little-endian.
  ///
  /// - Parameters:
  ///   - value: The integer.
  ///   - width: The number of bytes, at most 8.
  package mutating func append(littleEndian value: UInt64, width: Int = 8) {
    if width == 8 {
      // Read during the call only.
      return unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
    }
    for index in 0..<width { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }

  /// Appends an integer of sixteen bytes, little-endian.
  mutating func append(littleEndian value: UInt128) {
    append(littleEndian: UInt64(truncatingIfNeeded: value))
    append(littleEndian: UInt64(truncatingIfNeeded: value >> 64))
  }

  /// Appends the lower bytes of an integer, big-endian.
  ///
  /// - Parameters:
  ///   - value: The integer.
  ///   - width: The number of bytes, at most 8.
  package mutating func append(bigEndian value: UInt64, width: Int = 8) {
    for index in (0..<width).reversed() {
      append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  /// Appends bytes behind their count.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - width: The number of bytes of the count, which is little-endian.
  mutating func append(counted bytes: [UInt8], width: Int) {
    append(littleEndian: UInt64(bytes.count), width: width)
    self += bytes
  }
}

/// Reads the fields of a row from the first to the last.
struct RowReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0
  private let subject: String
  private let reason: String

  /// Begins at the first byte.
  ///
  /// - Parameters:
  ///   - bytes: The row.
  ///   - subject: The subject of the error that a malformed row gives.
  ///   - reason: Its reason.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, _ subject: String, _ reason: String = "its row is malformed") {
    (self.bytes, self.subject, self.reason) = (bytes, subject, reason)
  }

  /// The number of bytes that are left.
  var restByteCount: Int { bytes.count - offset }

  /// The error of a malformed row.
  var malformed: StoreError { .damaged(subject, reason) }

  /// Reads a little-endian integer.
  mutating func number(width: Int = 8) throws -> UInt64 {
    guard let number = bytes.littleEndian(at: offset, width: width) else { throw malformed }
    offset += width
    return number
  }

  /// Reads a little-endian integer of sixteen bytes.
  mutating func wideNumber() throws -> UInt128 {
    let low = try number()
    return UInt128(try number()) << 64 | UInt128(low)
  }

  /// Reads bytes.
  mutating func take(_ count: Int) throws -> [UInt8] {
    guard count >= 0, count <= restByteCount else { throw malformed }
    defer { offset += count }
    return Array(copying: bytes.extracting(offset..<offset + count))
  }

  /// Reads bytes behind their count.
  mutating func counted(width: Int) throws -> [UInt8] { try take(Int(number(width: width))) }

  /// Throws if bytes are left.
  func end() throws { if restByteCount > 0 { throw malformed } }
}
