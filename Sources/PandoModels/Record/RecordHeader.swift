/// What lies before the body of each record.
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 8 | unsigned, little endian | the commit that wrote the record |
/// | 8 | 8 | unsigned, little endian | checksum of commit number and body |
/// | 16 | rest | CBOR | the body |
///
/// The checksum is ``XXHash64`` of the body with the commit number as seed: a flipped bit in
/// either shows. See `docs/format.md`, "Records".
package struct RecordHeader: Hashable, Sendable {
  /// How many bytes lie before the body.
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
  ///   - checksum: The checksum that was written with it, which may not be that of the body.
  package init(commitNumber: UInt64, checksum: UInt64) {
    self.commitNumber = commitNumber
    self.checksum = checksum
  }

  /// Reads the header of a record.
  ///
  /// The checksum is not checked; see ``matches(_:)``. Fewer bytes than a header has give `nil`.
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
  /// - Returns: The bytes after the header, of the same lifetime; `nil` when there are fewer bytes
  ///   than a header has.
  package static func body(of record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard record.count >= byteCount else { return nil }
    return unsafe UnsafeRawBufferPointer(rebasing: record[byteCount...])
  }

  /// Whether the checksum is that of a body.
  ///
  /// - Parameter body: The body; read during the call only.
  /// - Returns: `false` when the header or the body was damaged.
  package func matches(_ body: UnsafeRawBufferPointer) -> Bool {
    unsafe XXHash64.hash(body, seed: commitNumber) == checksum
  }

  /// Writes the header's bytes.
  ///
  /// *Precondition:* there is room for ``byteCount`` bytes.
  ///
  /// - Parameter destination: Where the record begins.
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
