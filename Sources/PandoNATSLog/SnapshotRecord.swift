#if NATS
  import PandoRecords

  /// The record that completes a copy of a store; without it, its parts are invalid.
  ///
  /// All numbers are little endian.
  ///
  /// ```
  /// offset 0        4         5          13      21          29        37     45            n - 8   n
  ///        ┌────────┬─────────┬──────────┬───────┬───────────┬─────────┬──────┬─────────────┬───────┐
  ///        │ "PNDS" │ version │ position │ parts │ bytes     │ chained │ runs │ first and   │ XXH64 │
  ///        │        │         │          │       │ of parts  │ XXH64   │      │ count, each │ of it │
  ///        └────────┴─────────┴──────────┴───────┴───────────┴─────────┴──────┴─────────────┴───────┘
  /// ```
  /// The chained hash is that of each part, seeded with that of the parts before. Runs are the
  /// positions of the parts in their stream.
  struct SnapshotRecord: Equatable {
    var position: UInt64
    private(set) var partCount: UInt64 = 0
    private(set) var byteCount: UInt64 = 0
    private(set) var checksum: UInt64 = 0
    private(set) var runs: [Run] = []

    struct Run: Equatable {
      var first: UInt64
      var count: UInt64
    }

    init(position: UInt64) { self.position = position }

    /// Adds a part with its position in the stream.
    mutating func add(_ part: [UInt8], at sequence: UInt64) {
      partCount += 1
      byteCount += UInt64(part.count)
      checksum = Self.hash(part, seed: checksum)
      if let last = runs.last, last.first + last.count == sequence {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(Run(first: sequence, count: 1))
      }
    }

    /// Whether the parts read equal the parts recorded.
    func closes(_ other: SnapshotRecord) -> Bool {
      other.partCount == partCount && other.byteCount == byteCount && other.checksum == checksum
    }

    /// The positions of the parts in their stream, in order.
    var sequences: some Sequence<UInt64> {
      runs.lazy.flatMap { run in run.first..<run.first + run.count }
    }

    var bytes: [UInt8] {
      var bytes = Self.magic + [Self.version]
      var numbers = [position, partCount, byteCount, checksum, UInt64(runs.count)]
      for run in runs { numbers += [run.first, run.count] }
      for number in numbers { bytes.append(number) }
      bytes.append(Self.hash(bytes, seed: 0))
      return bytes
    }

    /// Decodes a record; `nil` if the bytes are not one.
    init?(_ bytes: [UInt8]) {
      let head = Self.magic.count + 1
      let fixed = head + 5 * 8
      guard bytes.count >= fixed + 8, Array(bytes.prefix(head)) == Self.magic + [Self.version],
        Self.hash(Array(bytes.dropLast(8)), seed: 0) == bytes.number(at: bytes.count - 8)
      else { return nil }
      position = bytes.number(at: head)
      partCount = bytes.number(at: head + 8)
      byteCount = bytes.number(at: head + 16)
      checksum = bytes.number(at: head + 24)
      let runCount = bytes.number(at: head + 32)
      guard runCount == UInt64((bytes.count - fixed - 8) / 16), (bytes.count - fixed - 8) % 16 == 0
      else { return nil }
      var count: UInt64 = 0
      for offset in stride(from: fixed, to: bytes.count - 8, by: 16) {
        let run = Run(first: bytes.number(at: offset), count: bytes.number(at: offset + 8))
        guard run.first > 0, run.count > 0, run.count <= partCount,
          !run.first.addingReportingOverflow(run.count).overflow
        else { return nil }
        count += run.count
        runs.append(run)
      }
      guard count == partCount else { return nil }
    }

    /// Encodes a part: "PNDP", the version, the bytes, and the XXH64 of all of these.
    static func message(of part: some Sequence<UInt8>) -> [UInt8] {
      var bytes = partMagic + [version]
      bytes += part
      bytes.append(hash(bytes, seed: 0))
      return bytes
    }

    /// Decodes the message of a part; `nil` if the bytes are not one.
    static func part(of message: [UInt8]) -> [UInt8]? {
      let head = partMagic.count + 1
      guard message.count >= head + 8, Array(message.prefix(head)) == partMagic + [version],
        hash(Array(message.dropLast(8)), seed: 0) == message.number(at: message.count - 8)
      else { return nil }
      return Array(message.dropFirst(head).dropLast(8))
    }

    private static let magic = Array("PNDS".utf8)
    private static let partMagic = Array("PNDP".utf8)
    private static let version: UInt8 = 1

    private static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
      unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: seed) }
    }
  }

  extension [UInt8] {
    fileprivate mutating func append(_ number: UInt64) {
      for shift in 0..<8 { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    fileprivate func number(at offset: Int) -> UInt64 {
      self[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
#endif
