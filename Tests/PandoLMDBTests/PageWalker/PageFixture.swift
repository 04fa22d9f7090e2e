import CPandoLMDB
import Testing

/// An environment made with liblmdb itself, as input for the page walker.
final class PageFixture {
  let path: String
  let handle: OpaquePointer

  struct Failure: Error {
    let function: String
    let code: Int32
  }

  init(path: String, mapSizeInBytes: Int = 1 << 30, flags: Int32 = MDB_NOSYNC) throws {
    var environment: OpaquePointer?
    try Self.require(mdb_env_create(&environment), "mdb_env_create")
    self.path = path
    handle = try #require(environment)
    try Self.require(mdb_env_set_maxdbs(handle, 256), "mdb_env_set_maxdbs")
    try Self.require(mdb_env_set_mapsize(handle, mapSizeInBytes), "mdb_env_set_mapsize")
    try Self.require(mdb_env_open(handle, path, UInt32(flags | MDB_NOTLS), 0o600), "mdb_env_open")
  }

  deinit {
    mdb_env_close(handle)
  }

  /// Runs `body` in a write transaction and commits it.
  func write(_ body: (PageFixtureTransaction) throws -> Void) throws {
    var transaction: OpaquePointer?
    try Self.require(mdb_txn_begin(handle, nil, 0, &transaction), "mdb_txn_begin")
    do {
      try body(PageFixtureTransaction(handle: try #require(transaction)))
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try Self.require(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  /// Runs `body` in a read transaction.
  func read<Result>(_ body: (PageFixtureTransaction) throws -> Result) throws -> Result {
    var transaction: OpaquePointer?
    try Self.require(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin")
    defer { mdb_txn_abort(transaction) }
    return try body(PageFixtureTransaction(handle: try #require(transaction)))
  }

  /// Throws the error of a call of liblmdb that failed.
  static func require(_ code: Int32, _ function: String) throws {
    guard code == MDB_SUCCESS else { throw Failure(function: function, code: code) }
  }
}
