/// The bytes before the body of each record.
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 8 | unsigned, little endian | the commit that wrote the record |
/// | 8 | 8 | unsigned, little endian | checksum of commit number and body |
/// | 16 | rest | CBOR | the body |
///
/// The checksum is ``XXHash64`` of the body with the commit number as seed, so it covers both. See
/// `docs/format.md`, "`nodes`".
package struct RecordHeader: Equatable, Sendable {
  /// The number of bytes before the body.
  package static var byteCount: Int { 16 }

  /// The commit that wrote the record.
  package let commitNumber: UInt64

  /// The checksum of commit number and body.
  package let checksum: UInt64

  /// Makes the header of a new record.
  ///
  /// - Parameters:
  ///   - commitNumber: The commit that writes the record.
  ///   - body: The body; read during the call only.
  package init(commitNumber: UInt64, body: UnsafeRawBufferPointer) {
    self.commitNumber = commitNumber
    self.checksum = unsafe XXHash64.hash(body, seed: commitNumber)
  }

  /// Makes a header from its two numbers.
  ///
  /// - Parameters:
  ///   - commitNumber: The commit that wrote the record.
  ///   - checksum: The stored checksum, which may differ from that of the body.
  package init(commitNumber: UInt64, checksum: UInt64) {
    self.commitNumber = commitNumber
    self.checksum = checksum
  }

  /// Reads the header of a record.
  ///
  /// The checksum is not checked; see ``matches(_:)``. The result is `nil` for too few bytes.
  ///
  /// - Parameter record: The header's and the body's bytes.
  package init?(record: UnsafeRawBufferPointer) {
    guard record.count >= RecordHeader.byteCount else { return nil }
    // Both are in bounds by the line above.
    commitNumber = unsafe UInt64(
      littleEndian: record.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    checksum = unsafe UInt64(
      littleEndian: record.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Returns the body of a record.
  ///
  /// - Parameter record: The header's and the body's bytes.
  /// - Returns: The bytes after the header, of the same lifetime; `nil` for too few bytes.
  package static func body(of record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard record.count >= byteCount else { return nil }
    return unsafe UnsafeRawBufferPointer(rebasing: record[byteCount...])
  }

  /// Whether the checksum matches a body.
  ///
  /// - Parameter body: The body; read during the call only.
  /// - Returns: `false` if the header or the body is damaged.
  package func matches(_ body: UnsafeRawBufferPointer) -> Bool {
    unsafe XXHash64.hash(body, seed: commitNumber) == checksum
  }

  /// Writes the header's bytes.
  ///
  /// *Precondition:* the buffer has ``byteCount`` bytes.
  ///
  /// - Parameter destination: The beginning of the record.
  package func write(to destination: UnsafeMutableRawBufferPointer) {
    precondition(destination.count >= RecordHeader.byteCount, "no room for a header")
    // Both are in bounds by the line above.
    unsafe destination.storeBytes(of: commitNumber.littleEndian, toByteOffset: 0, as: UInt64.self)
    unsafe destination.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// The header's bytes.
  package var bytes: [UInt8] {
    // All bytes are written.
    unsafe [UInt8](unsafeUninitializedCapacity: RecordHeader.byteCount) { buffer, count in
      unsafe write(to: UnsafeMutableRawBufferPointer(buffer))
      count = RecordHeader.byteCount
    }
  }
}

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
  ///   - bytes: The bytes; read during the call only.
  ///   - seed: A number that affects the hash like the bytes.
  /// - Returns: The hash, the same on every machine.
  /// - Complexity: O(*n*) for *n* bytes; no allocation.
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    guard var next = bytes.baseAddress else { return finished(seed &+ prime5) }
    var rest = bytes.count
    var result: UInt64
    // In bounds throughout: `rest` bytes are left.
    if rest >= 32 {
      result = unsafe hashStripes(&next, rest / 32, seed: seed)
      rest &= 31
    } else {
      result = seed &+ prime5
    }
    result &+= UInt64(bytes.count)
    while rest >= 8 {
      result ^= round(0, unsafe load(next))
      result = rotated(result, 27) &* prime1 &+ prime4
      unsafe next += 8
      rest &-= 8
    }
    if rest >= 4 {
      let word = unsafe next.loadUnaligned(as: UInt32.self)
      result ^= UInt64(UInt32(littleEndian: word)) &* prime1
      result = rotated(result, 23) &* prime2 &+ prime3
      unsafe next += 4
      rest &-= 4
    }
    while rest > 0 {
      result ^= unsafe UInt64(next.load(as: UInt8.self)) &* prime5
      result = rotated(result, 11) &* prime1
      unsafe next += 1
      rest &-= 1
    }
    return finished(result)
  }

  @inline(__always)
  private static func finished(_ hash: UInt64) -> UInt64 {
    var result = (hash ^ (hash >> 33)) &* prime2
    result = (result ^ (result >> 29)) &* prime3
    return result ^ (result >> 32)
  }

  /// Processes stripes of 32 bytes, each in four lanes.
  @inline(__always)
  private static func hashStripes(
    _ next: inout UnsafeRawPointer, _ count: Int, seed: UInt64
  ) -> UInt64 {
    var lane1 = seed &+ prime1 &+ prime2
    var lane2 = seed &+ prime2
    var lane3 = seed
    var lane4 = seed &- prime1
    var rest = count
    while rest > 0 {
      lane1 = round(lane1, unsafe load(next))
      lane2 = round(lane2, unsafe load(next + 8))
      lane3 = round(lane3, unsafe load(next + 16))
      lane4 = round(lane4, unsafe load(next + 24))
      unsafe next += 32
      rest &-= 1
    }
    var result = rotated(lane1, 1) &+ rotated(lane2, 7) &+ rotated(lane3, 12)
    result &+= rotated(lane4, 18)
    result = merged(result, lane1)
    result = merged(result, lane2)
    result = merged(result, lane3)
    return merged(result, lane4)
  }

  /// *Precondition:* eight bytes are readable.
  @inline(__always)
  private static func load(_ address: UnsafeRawPointer) -> UInt64 {
    unsafe UInt64(littleEndian: address.loadUnaligned(as: UInt64.self))
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func merged(_ result: UInt64, _ lane: UInt64) -> UInt64 {
    (result ^ round(0, lane)) &* prime1 &+ prime4
  }

  @inline(__always)
  private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
  }
}
