import PandoSystem

/// The record of a checkpoint: the meta page of its version, and the boot in which it is valid.
///
/// The file `checkpoint.mdb` has two slots of 512 bytes; sequence number *n* lies in slot *n* mod
/// 2. Numbers are little-endian. See docs/durability.md, "How `relaxed` works".
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 8 | `PNDOCKPT` |
/// | 8 | 8 | sequence number |
/// | 16 | 8 | how many power cuts the file has been brought back from |
/// | 24 | 16 | the boot of the system; zero where the version in the data file is whole |
/// | 40 | 16 | device and inode of the data file |
/// | 56 | 152 | the first bytes of the meta page, as ``MetaRecord`` reads them |
/// | 504 | 8 | FNV-1a of the bytes before |
struct CheckpointSlot: Equatable {
  static let byteCount = 512
  private static let magic: UInt64 = 0x5450_4B43_4F44_4E50
  private static let metaOffset = 56
  private static let checksumOffset = 504
  /// More transactions than can follow a checkpoint.
  private static let transactionCountMax: UInt64 = 1 << 24

  var sequence: UInt64 = 0
  var cutCount: UInt64 = 0
  var boot = BootIdentifier.none
  var file: OpenFiles.Identity
  /// Bytes of the meta page, `PageFormat.metaByteCount` of them.
  var meta: [UInt8]

  /// The number of the transaction that wrote the meta page.
  var version: UInt64 { meta.span.number(at: 144) }
  /// The size of a page, from the meta page.
  private var pageSizeInBytes: Int { Int(meta.span.number(at: 40) as UInt32) }

  /// The slot's bytes.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func append(_ number: UInt64) {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
    for number in [
      Self.magic, sequence, cutCount, boot.low, boot.high, file.device, file.inode,
    ] { append(number) }
    bytes += meta
    bytes += [UInt8](repeating: 0, count: Self.checksumOffset - bytes.count)
    append(Self.checksum(bytes.span))
    return bytes
  }

  init(file: OpenFiles.Identity, meta: [UInt8]) {
    self.file = file
    self.meta = meta
  }

  /// Reads a slot; `nil` if it was never written, or only in part.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount, bytes.number(at: 0) == Self.magic,
      bytes.number(at: Self.checksumOffset)
        == Self.checksum(bytes.extracting(0..<Self.checksumOffset))
    else { return nil }
    sequence = bytes.number(at: 8)
    cutCount = bytes.number(at: 16)
    boot = BootIdentifier(low: bytes.number(at: 24), high: bytes.number(at: 32))
    file = OpenFiles.Identity(device: bytes.number(at: 40), inode: bytes.number(at: 48))
    meta = (0..<PageFormat.metaByteCount).map { bytes[Self.metaOffset + $0] }
  }

  private static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
    return sum
  }

  /// Whether the checkpoint can belong to a data file.
  ///
  /// The meta pages were flushed before the slot was written, and numbers only grow: neither page
  /// can be older than the previous transaction.
  func fits(_ data: borrowing DataFile) -> Bool {
    [0, pageSizeInBytes].allSatisfy { offset in
      guard let found = data.read(PageFormat.metaByteCount, at: offset) else { return false }
      let number: UInt64 = found.span.number(at: 144)
      return found.span.number(at: 16) as UInt32 == PageFormat.magic && number + 1 >= version
        && number <= version + Self.transactionCountMax
    }
  }

  /// Writes the version into both meta pages, and flushes them.
  ///
  /// Both pages get the same roots, the other one with the previous number. It is idempotent.
  func restore(_ data: borrowing DataFile) throws(LMDBError) {
    for index in 0..<UInt64(2) {
      var page = meta
      let number = version > 0 && version & 1 != index ? version - 1 : version
      for shift in 0..<8 {
        page[shift] = UInt8(truncatingIfNeeded: index >> (8 * shift))
        page[144 + shift] = UInt8(truncatingIfNeeded: number >> (8 * shift))
      }
      try data.write(page, at: Int(index) * pageSizeInBytes)
    }
    try data.flush()
  }
}

/// A boot of the system.
struct BootIdentifier: Equatable {
  static let none = BootIdentifier(low: 0, high: 0)

  let low: UInt64
  let high: UInt64

  /// The current boot.
  ///
  /// - Throws: ``LMDBError`` with the system's code without `/proc`.
  static func current() throws(LMDBError) -> BootIdentifier {
    let path = "/proc/sys/kernel/random/boot_id"
    let descriptor = retryInterrupted { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .system("open", path) }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(descriptor, &text, text.count)
    guard count >= 0 else { throw .system("read", path) }
    let digits = String(decoding: text[..<count], as: UTF8.self).filter(\.isHexDigit)
    guard digits.count == 32, let low = UInt64(digits.prefix(16), radix: 16),
      let high = UInt64(digits.suffix(16), radix: 16)
    else { throw LMDBError(.invalidArgument, function: "read", detail: path) }
    return BootIdentifier(low: low, high: high)
  }
}
