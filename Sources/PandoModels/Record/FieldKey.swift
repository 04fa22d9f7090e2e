/// The key of a field, made ready to be looked for in many maps.
package struct FieldKey: Sendable, Hashable {
  /// The UTF-8 of the key.
  package let bytes: [UInt8]
  /// The head and the first bytes of the key as they stand in a map, eight at most.
  ///
  /// A key of 24 bytes or more has none: its head has more than one byte.
  private let start: UInt64
  /// Which of the eight count.
  private let mask: UInt64

  /// Makes a key.
  ///
  /// - Parameter name: The name of the field.
  package init(_ name: String) { self.init(Array(name.utf8)) }

  /// Makes a key.
  ///
  /// - Parameter bytes: The UTF-8 of the key.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var start: UInt64 = 0
    var mask: UInt64 = 0
    if bytes.count <= Self.shortByteCountMaximum {
      for (index, byte) in ([0x60 + UInt8(bytes.count)] + bytes.prefix(7)).enumerated() {
        start |= UInt64(byte) << UInt64(8 * index)
        mask |= 0xFF << UInt64(8 * index)
      }
    }
    self.start = start
    self.mask = mask
  }

  private static let shortByteCountMaximum = 23

  /// Whether a field begins with this key: the head of its key has one byte and the key `keyCount`, and all
  /// are among the `remaining` bytes that are there.
  @unsafe
  @inline(__always)
  fileprivate func begins(
    _ field: UnsafeRawPointer, keyCount: Int, remaining: Int
  ) -> Bool {
    if remaining >= 8 {
      // In bounds: eight bytes are there.
      let found = unsafe UInt64(littleEndian: field.loadUnaligned(as: UInt64.self))
      guard found & mask == start, mask != 0 else { return false }
      if keyCount < 8 { return true }
    }
    return unsafe isKey(at: field + 1, keyCount: keyCount)
  }

  /// Whether these bytes are the key.
  @unsafe
  @inline(never)
  fileprivate func isKey(at address: UnsafeRawPointer, keyCount: Int) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      // Of a key without bytes none are read.
      guard let other = bytes.baseAddress, keyCount > 0 else { return keyCount == bytes.count }
      return unsafe FieldIndex.Field(key: address, keyCount: keyCount)
        .hasKey(other, count: bytes.count)
    }
  }
}

extension CBORReader {
  /// Moves to the value under a key of a map.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - count: How many fields of the map follow.
  /// - Returns: Whether the map has the key; if not, the reader is behind the map.
  /// - Throws: ``CBORError``.
  package mutating func find(_ key: FieldKey, among count: Int) throws(CBORError) -> Bool {
    // A copy that no call can reach stays in registers; it goes as far as fields are of the usual kind.
    var reader = self
    var rest = count
    while rest > 0 {
      let field = unsafe reader.position
      let remaining = reader.remaining
      guard let keyCount = reader.takeShortField() else { break }
      rest &-= 1
      guard unsafe key.begins(field, keyCount: keyCount, remaining: remaining) else { continue }
      // Back to the value, which begins behind the key.
      advance(by: unsafe field - position + 1 + keyCount)
      return true
    }
    self = reader
    return try findSlowly(key, among: rest)
  }

  @inline(never)
  private mutating func findSlowly(
    _ key: FieldKey, among count: Int
  ) throws(CBORError) -> Bool {
    for _ in 0..<count {
      if let keyCount = try textCount() {
        let found = unsafe position
        advance(by: keyCount)
        if unsafe key.isKey(at: found, keyCount: keyCount) { return true }
      } else {
        try skip()
      }
      try skip()
    }
    return false
  }
}
