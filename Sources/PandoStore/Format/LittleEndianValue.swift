/// A value of one integer: eight bytes, little endian.
struct LittleEndianValue {
  let bytes: InlineArray<8, UInt8>

  init(_ value: UInt64) {
    bytes = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }
}
