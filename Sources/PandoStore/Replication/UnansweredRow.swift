/// An entry of this store whose answer was lost: a row of the `meta` table.
///
/// Its key is `unanswered:`, the 16 bytes of the origin and the counter of the entry (8,
/// big-endian). Other replicas have no such row.
///
/// ```
/// offset 0          8         16
///        ┌──────────┬─────────┬───────────────────────────────────────┐
///        │ position │ written │ for each write of the entry a byte, 1 │   little endian; written in seconds since 1970
///        │          │         │ if it is stored; none before it came  │
///        └──────────┴─────────┴───────────────────────────────────────┘
/// ```
package struct UnansweredRow: Equatable, Sendable {
  static let prefix = Array("unanswered:".utf8)

  /// The position of the entry in the log; before it arrives, the position that it was based on.
  package var position: UInt64
  package var seconds: UInt64
  /// For each write of the entry, whether it was applied; empty before the entry arrives.
  package var verdicts: [Bool]

  package init(position: UInt64, seconds: UInt64, verdicts: [Bool] = []) {
    (self.position, self.seconds, self.verdicts) = (position, seconds, verdicts)
  }

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "replication", "the row of an unanswered write is malformed")
    (position, seconds) = (try row.number(), try row.number())
    verdicts = try row.take(row.restByteCount).map { $0 == 1 }
  }

  var bytes: [UInt8] {
    [UInt8](littleEndian: position, seconds) + verdicts.map { $0 ? 1 : 0 }
  }

  static func key(_ origin: [UInt8], _ counter: UInt64) -> [UInt8] {
    var key = prefix + origin
    key.append(bigEndian: counter)
    return key
  }
}

extension ModelSnapshot {
  /// The row of an entry without an answer; `nil` if there is none.
  package func unanswered(_ origin: [UInt8], _ counter: UInt64) throws -> UnansweredRow? {
    let key = UnansweredRow.key(origin, counter)
    guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta) else {
      return nil
    }
    return try UnansweredRow(bytes)
  }

  /// The entries without an answer that have not arrived yet.
  package func unansweredEntries() throws -> [(origin: [UInt8], counter: UInt64)] {
    var found: [(origin: [UInt8], counter: UInt64)] = []
    let start = UnansweredRow.prefix.count
    try reader.snapshot.scan(reader.tables.meta, prefix: UnansweredRow.prefix) { key, value in
      guard key.count == start + 24, let counter = key.bigEndian(at: start + 16),
        try UnansweredRow(value).verdicts.isEmpty
      else { return true }
      found.append((Array(copying: key.extracting(start..<start + 16)), counter))
      return true
    }
    return found
  }

  /// The last applied entry of an origin; `nil` if there is none.
  package func origin(_ identity: [UInt8]) throws -> OriginRow? {
    let key = OriginRow.prefix + identity
    guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta) else {
      return nil
    }
    return try OriginRow(bytes)
  }
}

extension ModelTransaction {
  /// Records an entry without an answer, or its outcome; removes the oldest rows.
  package func setUnanswered(_ origin: [UInt8], _ counter: UInt64, _ row: UnansweredRow) throws {
    var rows: [(seconds: UInt64, key: [UInt8])] = []
    try session.reading { reader in
      try reader.snapshot.scan(session.tables.meta, prefix: UnansweredRow.prefix) { key, value in
        rows.append((try UnansweredRow(value).seconds, Array(copying: key)))
        return true
      }
    }
    if rows.count >= Self.unansweredCountMaximum {
      for row in rows.sorted(by: { $0.seconds < $1.seconds }).prefix(rows.count / 10) {
        try session.deleteRow(row.key.span, in: session.tables.meta)
      }
    }
    let (key, bytes) = (UnansweredRow.key(origin, counter), row.bytes)
    try session.put(bytes.span, forKey: key.span, in: session.tables.meta)
  }

  /// An outage loses few answers: later entries are not sent at all.
  private static var unansweredCountMaximum: Int { 10_000 }
}

extension ModelStore {
  /// Reports an event that a service may want to log.
  package func report(_ event: StoreEvent) { core.report(event) }
}
