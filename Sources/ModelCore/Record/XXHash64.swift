/// The 64-bit hash XXH64: a fast checksum, not a cryptographic one.
///
/// Written from the specification "XXH64 algorithm description" in `doc/xxhash_spec.md` of
/// <https://github.com/Cyan4973/xxHash> (version 0.2.0).
package enum XXHash64 {
  private static var prime1: UInt64 { 0x9e37_79b1_85eb_ca87 }
  private static var prime2: UInt64 { 0xc2b2_ae3d_27d4_eb4f }
  private static var prime3: UInt64 { 0x1656_67b1_9e37_79f9 }
  private static var prime4: UInt64 { 0x85eb_ca77_c2b2_ae63 }
  private static var prime5: UInt64 { 0x27d4_eb2f_1656_67c5 }

  /// Returns the hash of some bytes.
  ///
  /// - Parameters:
  ///   - bytes: What to hash; read during the call only.
  ///   - seed: A number the hash depends on as much as on the bytes.
  /// - Returns: The hash, the same on every machine.
  /// - Complexity: O(*n*) for *n* bytes; no allocation.
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    var offset = 0
    var result: UInt64
    if bytes.count >= 32 {
      result = unsafe hashStripes(of: bytes, seed: seed, offset: &offset)
    } else {
      result = seed &+ prime5
    }
    result &+= UInt64(bytes.count)
    while bytes.count - offset >= 8 {
      result ^= round(0, unsafe load(bytes, at: offset))
      result = rotated(result, 27) &* prime1 &+ prime4
      offset += 8
    }
    if bytes.count - offset >= 4 {
      // In bounds by the line above.
      let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      result ^= UInt64(UInt32(littleEndian: word)) &* prime1
      result = rotated(result, 23) &* prime2 &+ prime3
      offset += 4
    }
    while offset < bytes.count {
      result ^= unsafe UInt64(bytes[offset]) &* prime5
      result = rotated(result, 11) &* prime1
      offset += 1
    }
    result = (result ^ (result >> 33)) &* prime2
    result = (result ^ (result >> 29)) &* prime3
    return result ^ (result >> 32)
  }

  /// Takes as many stripes of 32 bytes as there are, each through four lanes.
  private static func hashStripes(
    of bytes: UnsafeRawBufferPointer, seed: UInt64, offset: inout Int
  ) -> UInt64 {
    var lane1 = seed &+ prime1 &+ prime2
    var lane2 = seed &+ prime2
    var lane3 = seed
    var lane4 = seed &- prime1
    while bytes.count - offset >= 32 {
      lane1 = round(lane1, unsafe load(bytes, at: offset))
      lane2 = round(lane2, unsafe load(bytes, at: offset + 8))
      lane3 = round(lane3, unsafe load(bytes, at: offset + 16))
      lane4 = round(lane4, unsafe load(bytes, at: offset + 24))
      offset += 32
    }
    var result = rotated(lane1, 1) &+ rotated(lane2, 7) &+ rotated(lane3, 12)
    result &+= rotated(lane4, 18)
    result = merged(result, lane1)
    result = merged(result, lane2)
    result = merged(result, lane3)
    return merged(result, lane4)
  }

  /// *Precondition:* eight bytes lie at the offset.
  private static func load(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ input &* prime2, 31) &* prime1
  }

  private static func merged(_ result: UInt64, _ lane: UInt64) -> UInt64 {
    (result ^ round(0, lane)) &* prime1 &+ prime4
  }

  private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
  }
}
