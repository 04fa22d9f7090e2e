import CLMDB
import Foundation
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
    try require(mdb_env_create(&environment), "mdb_env_create")
    self.path = path
    handle = try #require(environment)
    try require(mdb_env_set_maxdbs(handle, 256), "mdb_env_set_maxdbs")
    try require(mdb_env_set_mapsize(handle, mapSizeInBytes), "mdb_env_set_mapsize")
    try require(mdb_env_open(handle, path, UInt32(flags | MDB_NOTLS), 0o600), "mdb_env_open")
  }

  deinit {
    mdb_env_close(handle)
  }

  /// Runs `body` in a write transaction and commits it.
  func write(_ body: (PageFixtureTransaction) throws -> Void) throws {
    var transaction: OpaquePointer?
    try require(mdb_txn_begin(handle, nil, 0, &transaction), "mdb_txn_begin")
    do {
      try body(PageFixtureTransaction(handle: try #require(transaction)))
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try require(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  /// Runs `body` in a read transaction.
  func read<Result>(_ body: (PageFixtureTransaction) throws -> Result) throws -> Result {
    var transaction: OpaquePointer?
    try require(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin")
    defer { mdb_txn_abort(transaction) }
    return try body(PageFixtureTransaction(handle: try #require(transaction)))
  }
}

/// A transaction of a ``PageFixture``, and what tests do in it.
struct PageFixtureTransaction {
  let handle: OpaquePointer

  var id: UInt64 { UInt64(mdb_txn_id(handle)) }

  func table(_ name: String?, flags: Int32 = MDB_CREATE) throws -> MDB_dbi {
    var table: MDB_dbi = 0
    // The main table exists; it takes no flag for creation.
    let given = name == nil ? flags & ~MDB_CREATE : flags
    try require(mdb_dbi_open(handle, name, UInt32(given), &table), "mdb_dbi_open")
    return table
  }

  func put(_ value: [UInt8], forKey key: [UInt8], in table: MDB_dbi, flags: Int32 = 0) throws {
    try withValue(key) { key in
      try withValue(value) { value in
        try require(mdb_put(handle, table, &key, &value, UInt32(flags)), "mdb_put")
      }
    }
  }

  /// Deletes a key, or one of its values; that it is not there is no error.
  func delete(_ key: [UInt8], value: [UInt8]? = nil, in table: MDB_dbi) throws {
    let code = withValue(key) { key in
      guard let value else { return mdb_del(handle, table, &key, nil) }
      return withValue(value) { mdb_del(handle, table, &key, &$0) }
    }
    if code != MDB_NOTFOUND { try require(code, "mdb_del") }
  }

  func statistics(of table: MDB_dbi) throws -> MDB_stat {
    var statistics = MDB_stat()
    try require(mdb_stat(handle, table, &statistics), "mdb_stat")
    return statistics
  }

  /// All entries, by cursor.
  func entries(in table: MDB_dbi) throws -> [PageFixtureEntry] {
    var cursor: OpaquePointer?
    try require(mdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
    defer { mdb_cursor_close(cursor) }
    var entries: [PageFixtureEntry] = []
    var (key, value) = (MDB_val(), MDB_val())
    while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
      entries.append(PageFixtureEntry(key: bytes(key), value: bytes(value)))
    }
    return entries
  }

  private func bytes(_ value: MDB_val) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
  }

  private func withValue<Result>(
    _ bytes: [UInt8], _ body: (inout MDB_val) throws -> Result
  ) rethrows -> Result {
    var bytes = bytes
    return try bytes.withUnsafeMutableBytes {
      var value = MDB_val(mv_size: $0.count, mv_data: $0.baseAddress)
      return try body(&value)
    }
  }
}

struct PageFixtureEntry: Equatable {
  let key: [UInt8]
  let value: [UInt8]
}

/// Throws the error of a call of liblmdb that failed.
func require(_ code: Int32, _ function: String) throws {
  guard code == MDB_SUCCESS else { throw PageFixture.Failure(function: function, code: code) }
}

/// Runs `body` with the path of a fresh directory, which is removed afterwards.
func withPageDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let path = NSTemporaryDirectory() + "pages-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try body(path)
}

/// Random numbers that are the same for the same seed (SplitMix64, Steele, Lea and Flood 2014).
struct PageRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
