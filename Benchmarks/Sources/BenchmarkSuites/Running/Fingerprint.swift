/// A hash of bytes in their order (FNV-1a, Fowler, Noll and Vo), to compare what databases hold.
struct Fingerprint {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
  }

  mutating func add(_ bytes: Span<UInt8>) {
    for index in bytes.indices {
      value = (value ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01b3
    }
  }
}
