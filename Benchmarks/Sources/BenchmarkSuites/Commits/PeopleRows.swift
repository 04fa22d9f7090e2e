import Pando

/// People as rows of RocksDB: the key is the identifier, the value is as long as a record.
struct PeopleRows: Sendable {
  private static let valueByteCount = 208

  private let rows: KeyValueRows
  private let hash: UInt64

  /// Makes the rows.
  ///
  /// - Parameter people: Their identifiers have one length.
  init(_ people: [Person]) {
    let identifiers = people.map(\.identifier)
    rows = KeyValueRows(
      keys: identifiers.flatMap { $0.utf8 },
      values: [UInt8](repeating: 1, count: people.count * Self.valueByteCount),
      keyByteCount: identifiers.first?.utf8.count ?? 0, valueByteCount: Self.valueByteCount)
    var fingerprint = Fingerprint()
    for identifier in identifiers.sorted() { fingerprint.add(identifier.utf8) }
    hash = fingerprint.value
  }

  func open(
    _ directory: WorkingDirectory, _ durability: Durability
  ) throws -> any KeyValueDatabase {
    try KeyValueSystems.open(.rocksdb, directory, durability)
  }

  /// Stores a range of the rows.
  func put(
    _ range: Range<Int>, perCommit: Int, into session: any KeyValueSession,
    _ latencies: Latencies?
  ) throws {
    try session.write(
      rows, range.map { UInt32($0) }, rowsPerCommit: perCommit, latencies)
  }

  /// Whether the database has all rows.
  func contains(_ database: any KeyValueDatabase) throws -> Bool {
    let keys = KeyValueKeys(bytes: rows.keys, keyByteCount: rows.keyByteCount)
    return try database.makeSession().read(keys, each: false, nil).count == keys.count
  }

  /// A hash of all identifiers in byte order (FNV-1a), if the database has them all.
  func hashOfIdentifiers(_ database: any KeyValueDatabase) throws -> UInt64 {
    try contains(database) ? hash : 0
  }
}
