/// A key of one integer: eight bytes, big endian.
struct IntegerKey {
  let bytes: InlineArray<8, UInt8>

  init(_ value: UInt64) {
    bytes = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
  }
}
