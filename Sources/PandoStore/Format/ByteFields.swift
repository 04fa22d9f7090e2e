import PandoModels
import PandoRecords
import PandoSystem

/// Fixed-width integers in rows: big-endian in keys, so that byte order is numeric order, and
/// little-endian in values.
enum ByteFields {
  /// Reads a big-endian integer from a key.
  ///
  /// - Returns: `nil` if fewer than eight bytes are left at the offset.
  static func bigEndian(_ bytes: Span<UInt8>, at offset: Int) -> UInt64? {
    guard offset >= 0, bytes.count - 8 >= offset else { return nil }
    // In bounds by the line above.
    let value = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return UInt64(bigEndian: value)
  }

  /// Reads a little-endian integer of up to eight bytes from a value.
  ///
  /// - Returns: `nil` if fewer than `width` bytes are left at the offset.
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

  /// Appends the lower bytes of an integer to a key, big-endian.
  static func append(bigEndian value: UInt64, width: Int, to bytes: inout [UInt8]) {
    for index in 1...width {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * (width - index))))
    }
  }

  /// Appends a little-endian integer to a value.
  static func append(_ value: UInt64, width: Int, to bytes: inout [UInt8]) {
    for shift in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
  }

  /// Reads a UTF-8 text; `what` is its name in the error.
  static func text(_ bytes: Span<UInt8>, _ what: String) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError.damaged(what, "it is not UTF-8")
    }
    return text
  }
}

extension Span<UInt8> {
  /// Whether both spans have the same bytes.
  func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Both pointers are read for `count` bytes during the call.
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
      }
    }
  }
}

/// The record functions over spans, whose lifetime the compiler checks; each reads them during the
/// call only.
extension RecordBody {
  static func edges(in body: Span<UInt8>) throws -> [RecordEdge] {
    try unsafe body.withUnsafeBytes { try unsafe edges(in: $0) }
  }

  static func losing(
    _ children: Set<UInt64>, in body: Span<UInt8>, keeping kept: [Range<Int>] = []
  ) throws -> RecordLoss {
    try unsafe body.withUnsafeBytes {
      try unsafe losing(children: children, in: $0, keeping: kept)
    }
  }

  static func merging(
    _ new: Span<UInt8>, into old: Span<UInt8>, policy: RecordMerge.Policy,
    leaving names: Set<String> = []
  ) throws -> RecordMerge {
    try unsafe new.withUnsafeBytes { new in
      try unsafe old.withUnsafeBytes { old in
        try unsafe merging(new, into: old, policy: policy, leaving: names)
      }
    }
  }

  static func validate(_ body: Span<UInt8>) throws {
    try unsafe body.withUnsafeBytes { try unsafe validate($0) }
  }
}

extension RecordHeader {
  /// Whether the checksum matches a body.
  func matches(_ body: Span<UInt8>) -> Bool {
    unsafe body.withUnsafeBytes { unsafe matches($0) }
  }
}

extension [UInt8] {
  package init(copying bytes: Span<UInt8>) {
    // The pointer does not leave the closure, and the array copies the bytes.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  mutating func append(copying bytes: Span<UInt8>) {
    // As above.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
