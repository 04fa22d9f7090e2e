/// A key of one integer: eight bytes, big endian.
struct IntegerKey {
  let bytes: InlineArray<8, UInt8>

  init(_ value: UInt64) {
    // Both are eight bytes without padding.
    bytes = unsafe unsafeBitCast(value.bigEndian, to: InlineArray<8, UInt8>.self)
  }
}
