#if NATS
  import PandoReplication

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
  package struct SnapshotRecord: Equatable {
    package var position: UInt64
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
      checksum = SealedBytes.hash(part, after: checksum)
      if let last = runs.last, last.first + last.count == sequence {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(Run(first: sequence, count: 1))
      }
    }

    /// The positions of the parts in their stream, in order.
    var sequences: some Sequence<UInt64> {
      runs.lazy.flatMap { run in run.first..<run.first + run.count }
    }

    var bytes: [UInt8] {
      let numbers = [position, partCount, byteCount, checksum, UInt64(runs.count)]
      return SealedBytes.seal(numbers + runs.flatMap { [$0.first, $0.count] }, Self.magic)
    }

    /// Decodes a record; `nil` if the bytes are not one.
    init?(_ bytes: [UInt8]) {
      guard let numbers = SealedBytes.openNumbers(bytes, Self.magic), numbers.count >= 5,
        numbers.count % 2 == 1, numbers[4] == UInt64((numbers.count - 5) / 2)
      else { return nil }
      (position, partCount, byteCount, checksum) = (numbers[0], numbers[1], numbers[2], numbers[3])
      var count: UInt64 = 0
      for index in stride(from: 5, to: numbers.count, by: 2) {
        let run = Run(first: numbers[index], count: numbers[index + 1])
        guard run.first > 0, run.count > 0, run.count <= partCount,
          !run.first.addingReportingOverflow(run.count).overflow
        else { return nil }
        count += run.count
        runs.append(run)
      }
      guard count == partCount else { return nil }
    }

    /// Encodes a part: "PNDP", the version, the bytes, and the XXH64 of all of these.
    static func message(of part: [UInt8]) -> [UInt8] { SealedBytes.seal(part, partMagic) }

    /// Decodes the message of a part; `nil` if the bytes are not one.
    static func part(of message: [UInt8]) -> [UInt8]? { SealedBytes.open(message, partMagic) }

    /// Four characters and the version.
    private static let magic = Array("PNDS".utf8) + [1]
    private static let partMagic = Array("PNDP".utf8) + [1]
  }
#endif
