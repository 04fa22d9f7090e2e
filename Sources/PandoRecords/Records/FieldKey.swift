import PandoSystem

/// The key of a field, prepared for searches in many maps.
package struct FieldKey: Sendable, Hashable {
  /// The UTF-8 of the key.
  package let bytes: [UInt8]
  /// The head and the first bytes of the key as in a map, at most eight.
  ///
  /// Zero for a key of 24 bytes or more, whose head has more than one byte.
  private let start: UInt64
  /// The bits of the eight bytes that belong to the key.
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

  /// Whether a field may begin with this key; it does if the key has less than eight bytes.
  ///
  /// - Parameter field: The first eight bytes of the field, little endian.
  /// - Returns: `false` if its key is a different one.
  @inline(__always)
  fileprivate func mayBegin(_ field: UInt64) -> Bool { field & mask == start }

  /// Whether the beginning of a field can rule out this key.
  fileprivate var hasStart: Bool { mask != 0 }

  /// Moves over fields to the value of this key, as long as their keys and values are short.
  ///
  /// The caller's variables stay in registers, as no call can access them.
  ///
  /// - Parameters:
  ///   - field: The address of the next field; afterwards that of the value, or of the field at which the search ended.
  ///   - rest: The number of fields from there.
  ///   - end: The address after the last byte.
  /// - Returns: Whether the value was found.
  @unsafe
  @inline(__always)
  fileprivate func find(
    _ field: inout UnsafeRawPointer, _ rest: inout Int, upTo end: UnsafeRawPointer
  ) -> Bool {
    while rest > 0 {
      let remaining = unsafe end - field
      guard remaining >= 8 else { return false }
      // In bounds, as are key and value after the checks before them.
      let keyCount = unsafe Int(field.load(as: UInt8.self)) &- 0x60
      guard UInt(bitPattern: keyCount) < 24, keyCount < remaining else { return false }
      let value = unsafe field + (1 &+ keyCount)
      if unsafe mayBegin(UInt64(littleEndian: field.loadUnaligned(as: UInt64.self))),
        unsafe keyCount < 8 || isKey(at: field + 1, keyCount: keyCount)
      {
        unsafe field = value
        return true
      }
      let count = unsafe ShortItem.byteCount(at: value, end - value)
      guard count > 0 else { return false }
      unsafe field = value + count
      rest &-= 1
    }
    return false
  }

  /// Whether these bytes are the key.
  @unsafe
  @inline(never)
  fileprivate func isKey(at address: UnsafeRawPointer, keyCount: Int) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      // An empty key has no bytes to read.
      guard let other = bytes.baseAddress, keyCount > 0 else { return keyCount == bytes.count }
      return unsafe FieldLocation(key: address, keyCount: keyCount)
        .hasKey(other, count: bytes.count)
    }
  }
}

/// The position of one field of a map; its value follows its key.
@safe struct FieldLocation {
  let key: UnsafeRawPointer
  let keyCount: Int

  /// Whether the key has these bytes.
  @inline(__always)
  func hasKey(_ other: UnsafeRawPointer, count: Int) -> Bool {
    guard keyCount == count else { return false }
    // Both keys have `count` bytes; overlapping loads are faster than a call.
    if count >= 8 && count <= 16 {
      return unsafe key.loadUnaligned(as: UInt64.self) == other.loadUnaligned(as: UInt64.self)
        && key.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
          == other.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    }
    if count >= 4 && count < 8 {
      return unsafe key.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        && key.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
          == other.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
    }
    return unsafe memcmp(key, other, count) == 0
  }

  /// Compares the key with another; shorter ones are first, because their heads are smaller.
  func order(_ other: UnsafeRawPointer, count: Int) -> Int {
    if keyCount != count { return keyCount < count ? -1 : 1 }
    // Both keys have `count` bytes.
    return unsafe Int(memcmp(key, other, count))
  }
}

extension CBORReader {
  /// Moves to the value under a key of a map.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - count: The number of fields that follow in the map.
  /// - Returns: Whether the map has the key; if not, the reader is after the map.
  /// - Throws: ``CBORError``.
  package mutating func find(_ key: FieldKey, among count: Int) throws(CBORError) -> Bool {
    var field = unsafe position
    var rest = key.hasStart ? count : 0
    let others = count &- rest
    let isFound = unsafe key.find(&field, &rest, upTo: end)
    unsafe advance(by: field - position)
    if isFound { return true }
    return try findSlowly(key, among: rest &+ others)
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

/// A field and a plain value to compare it with, prepared for many bodies; nothing is decoded.
package struct FieldOperand: Sendable {
  /// A value with the same order in a body as decoded.
  package enum Value: Sendable {
    case bool(Bool)
    case integer(Int64)
    /// A number.
    case double(Double)
    /// The UTF-8 of a text.
    case text([UInt8])
  }

  /// The order of the field relative to the value.
  package enum Order: Sendable {
    case less, equal, greater
    /// The field is absent, of another kind, or in a form that needs decoding.
    case unknown
  }

  private let key: FieldKey
  private let value: Value

  /// Makes an operand.
  ///
  /// - Parameters:
  ///   - name: The name of a field of the body itself.
  ///   - value: The value; a double is not NaN.
  package init(field name: String, _ value: Value) {
    key = FieldKey(name)
    self.value = value
  }

  /// Returns the order of a body's field relative to the value.
  ///
  /// - Parameter body: A record body; read during the call only.
  /// - Returns: The order, or that it is unknown.
  /// - Throws: ``CBORError`` if the bytes are no record body.
  package func order(in body: UnsafeRawBufferPointer) throws(CBORError) -> Order {
    if let order = unsafe shortOrder(in: body) { return order }
    var reader = unsafe CBORReader(body)
    let head = try reader.head()
    guard head.major == .map, try reader.find(key, among: Int(head.argument)) else {
      return .unknown
    }
    return order(of: &reader) ?? .unknown
  }

  /// Returns the order if the field and those before it are short, as most are; `nil` otherwise.
  @unsafe
  @inline(__always)
  private func shortOrder(in body: UnsafeRawBufferPointer) -> Order? {
    guard key.hasStart, body.count > 0, let start = body.baseAddress else { return nil }
    // In bounds: a byte exists. A map with less than 24 fields has one byte before them.
    var rest = unsafe Int(start.load(as: UInt8.self)) &- 0xA0
    guard UInt(bitPattern: rest) < 24 else { return nil }
    var field = unsafe start + 1
    let end = unsafe start + body.count
    guard unsafe key.find(&field, &rest, upTo: end) else { return rest == 0 ? .unknown : nil }
    var reader = unsafe CBORReader(start: field, end: end)
    return order(of: &reader)
  }

  /// Returns the order of the next item relative to the value; `nil` if it has another kind, or is unusual.
  @inline(__always)
  private func order(of reader: inout CBORReader) -> Order? {
    switch value {
    case .bool(let value):
      guard let found = (try? reader.head())?.bool else { return nil }
      return Order(found ? 1 : 0, value ? 1 : 0)
    case .integer(let value):
      if let found = reader.takeSmallUnsigned() {
        return Order(Int64(truncatingIfNeeded: found), value)
      }
      guard let head = try? reader.head(), let found = Int64(exactly: head.argument) else {
        return nil
      }
      switch head.major {
      case .unsigned: return Order(found, value)
      case .negative: return Order(-1 - found, value)
      default: return nil
      }
    case .double(let value):
      guard let found = reader.takeDouble() else { return nil }
      return Order(found, value)
    case .text(let value):
      guard let found = unsafe reader.takeShortText() else { return nil }
      return unsafe Order(found, value)
    }
  }
}

extension FieldOperand.Order {
  fileprivate init<Number: Comparable>(_ found: Number, _ value: Number) {
    // Not a number: unknown.
    self = found < value ? .less : found == value ? .equal : found > value ? .greater : .unknown
  }

  /// Compares texts byte by byte.
  fileprivate init(_ found: UnsafeRawBufferPointer, _ value: [UInt8]) {
    let order = unsafe value.withUnsafeBytes { value -> Int in
      guard let left = found.baseAddress, let right = value.baseAddress else {
        return 0
      }
      // Both have at least as many bytes.
      return unsafe Int(memcmp(left, right, min(found.count, value.count)))
    }
    self.init(order == 0 ? found.count - value.count : order, 0)
  }
}
