import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem

/// The checksum at the end of a copy beside a log; docs/format.md, "Copies in a log".
///
/// ```
/// offset 0    n          n + 8        n + 16     n + 24     n + 32
///        ┌────┬──────────┬────────────┬──────────┬──────────┐
///        │ …  │ "PNDCOPY" │ n          │ hash of the n bytes │   integers little endian
///        │    │ and 1     │            │ before              │
///        └────┴──────────┴────────────┴──────────┴──────────┘
/// ```
/// The hash is that of a log whose messages are the bytes in blocks of 512 KiB. The pages of a store are multiples of
/// 4 KiB: a copy of an earlier version has no checksum, and such a length.
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

  /// Looks whether a copy is as it was put beside the log, and cuts off its checksum.
  ///
  /// - Parameters:
  ///   - descriptor: The file, open for reading and writing.
  ///   - path: Its folder.
  ///   - isLookedAt: Whether it is compared; tests turn it off to see that they fail.
  /// - Throws: ``StoreError`` `damaged` if the checksum does not fit; the system's error.
  static func remove(from descriptor: CInt, _ path: String, isLookedAt: Bool) throws {
    var status = stat()
    try StoreCopy.check(unsafe fstat(descriptor, &status), path)
    let size = Int(status.st_size)
    // One of an earlier version; its pages are looked at.
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
      .damaged, path, "the copy that the log has is damaged: its checksum does not fit its bytes")
  }
}
