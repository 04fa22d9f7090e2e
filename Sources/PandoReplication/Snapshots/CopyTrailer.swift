import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem

/// The checksum at the end of a copy in a log; docs/format.md, "Copies in a log".
///
/// ```
/// offset 0    n          n + 8        n + 16     n + 24     n + 32
///        ┌────┬──────────┬────────────┬──────────┬──────────┐
///        │ …  │ "PNDCOPY" │ n          │ hash of the n bytes │   integers little endian
///        │    │ and 1     │            │ before              │
///        └────┴──────────┴────────────┴──────────┴──────────┘
/// ```
/// The hash is that of a log whose messages are the bytes in blocks of 512 KiB. The pages of a store are multiples of 4
/// KiB, so a copy of that length is from an earlier version and has no checksum.
struct CopyTrailer {
  static let byteCount = 32
  static let blockByteCount = 512 << 10
  private static let magic = Array("PNDCOPY".utf8) + [1]
  private static let pageByteCount = 4096

  private var count: UInt64 = 0
  private var hash = EntryChain()

  /// Adds the next block; all but the last have the same size.
  mutating func add(_ block: [UInt8]) {
    if block.isEmpty { return }
    count += UInt64(block.count)
    hash = hash.appending(block)
  }

  var bytes: [UInt8] { Self.magic + [UInt8](littleEndian: count, hash.first, hash.second) }

  /// Verifies the checksum of a copy, and removes it from the file.
  ///
  /// - Parameters:
  ///   - descriptor: The file, open for reading and writing.
  ///   - path: The folder of the file.
  ///   - isLookedAt: Whether the checksum is compared; tests turn the comparison off to show that they need it.
  /// - Throws: ``StoreError`` `damaged` if the checksum differs; the system's error.
  static func remove(from descriptor: CInt, _ path: String, isLookedAt: Bool) throws {
    var status = stat()
    try StoreCopy.check(unsafe fstat(descriptor, &status), path)
    let size = Int(status.st_size)
    // A copy of an earlier version has no checksum; its pages are checked.
    if size % pageByteCount == 0 { return }
    let rest = size - byteCount
    guard rest >= 0, rest % pageByteCount == 0 else { throw isDamaged(path) }
    if isLookedAt {
      var trailer = Self()
      for start in stride(from: 0, to: rest, by: blockByteCount) {
        trailer.add(
          try read(descriptor, at: start, count: min(blockByteCount, rest - start), path))
      }
      guard try read(descriptor, at: rest, count: byteCount, path) == trailer.bytes else {
        throw isDamaged(path)
      }
    }
    try StoreCopy.check(retryInterrupted { ftruncate(descriptor, off_t(rest)) }, path)
  }

  /// Reads bytes of a file; fewer at its end.
  static func read(
    _ descriptor: CInt, at offset: Int, count: Int, _ path: String
  ) throws -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, readCount in
      while readCount < count {
        let more = retryInterrupted {
          unsafe pread(
            descriptor, bytes.baseAddress.map { unsafe $0 + readCount }, count - readCount,
            off_t(offset + readCount))
        }
        try StoreCopy.check(more < 0 ? -1 : 0, path)
        if more == 0 { return }
        readCount += more
      }
    }
  }

  private static func isDamaged(_ path: String) -> StoreError {
    StoreError(
      .damaged, path, "the copy in the log is damaged: its checksum differs")
  }
}
