import CPeerLMDB
import CPeerSQLite

/// Durable commits in plain C on LMDB, with the tables of a Pando store.
final class PlainStore {
  /// About what a person's record has.
  private static let recordByteCount = 208

  private let directory: WorkingDirectory
  private let store: OpaquePointer

  init(_ directory: WorkingDirectory) throws {
    self.directory = directory
    var store: OpaquePointer?
    try Self.check(peer_store_open(directory.path, 8 << 30, &store))
    guard let store else { preconditionFailure("an environment that was opened is not nil") }
    self.store = store
  }

  deinit {
    peer_store_close(store)
  }

  /// Stores all models, so many in each transaction.
  func commit(_ people: FlatPeople, peoplePerCommit: Int) throws {
    let record = [CChar](repeating: 1, count: Self.recordByteCount)
    try record.withUnsafeBufferPointer { record in
      let models = people.rows.map { person in
        peer_model(
          identifier: person.identifier.bytes,
          identifier_size: Int(person.identifier.byte_count),
          record: record.baseAddress, record_size: record.count)
      }
      try Self.check(peer_store_commit(store, models, models.count, peoplePerCommit))
    }
  }

  /// A hash of all identifiers in byte order (FNV-1a).
  func fingerprint() throws -> UInt64 {
    var fingerprint: UInt64 = 0
    try Self.check(peer_store_fingerprint(store, &fingerprint))
    return fingerprint
  }

  private static func check(_ status: CInt) throws {
    guard status == 0 else {
      throw BenchmarkError(.system, "C on LMDB: \(String(cString: peer_lmdb_message(status)))")
    }
  }
}
