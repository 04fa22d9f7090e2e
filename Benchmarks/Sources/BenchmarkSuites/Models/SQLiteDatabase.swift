import CPeerSQLite
import CSystemSQLite

/// The model workloads on SQLite: the database and its inserts are made in C, models are made from
/// columns here, because a Swift struct has to come out.
final class SQLiteDatabase {
  let connection: OpaquePointer

  init(directory: WorkingDirectory) throws {
    var connection: OpaquePointer?
    let status = peer_sqlite_open(directory.path + "/peer.sqlite", &connection)
    guard let connection, status == SQLITE_OK else {
      throw BenchmarkError(.system, "SQLite: \(String(cString: sqlite3_errstr(status)))")
    }
    self.connection = connection
  }

  deinit {
    sqlite3_close(connection)
  }

  /// Inserts all models, so many in each transaction.
  func put(_ people: FlatPeople, peoplePerCommit: Int) throws {
    try check(peer_sqlite_put_people(connection, people.rows, people.count, peoplePerCommit))
  }

  /// Inserts all trees in one transaction.
  func put(_ trees: FlatTrees) throws {
    try check(peer_sqlite_put_trees(connection, trees.rows, trees.count))
  }

  /// Runs `body` in one read transaction.
  func read<Result>(_ body: () throws -> Result) throws -> Result {
    try check(sqlite3_exec(connection, "BEGIN", nil, nil, nil))
    let result = try body()
    try check(sqlite3_exec(connection, "COMMIT", nil, nil, nil))
    return result
  }

  /// Moves the log into the database file.
  func checkpoint() throws {
    try check(
      sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
  }

  /// A hash of the identifiers of all people in byte order (FNV-1a).
  func fingerprint() throws -> UInt64 {
    let statement = try prepare("SELECT identifier FROM person ORDER BY identifier")
    defer { sqlite3_finalize(statement) }
    var fingerprint = Fingerprint()
    while sqlite3_step(statement) == SQLITE_ROW {
      let count = Int(sqlite3_column_bytes(statement, 0))
      fingerprint.add(UnsafeBufferPointer(start: sqlite3_column_text(statement, 0), count: count))
    }
    return fingerprint.value
  }

  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(
      sqlite3_prepare_v3(
        connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { preconditionFailure("a statement that was prepared is not nil") }
    return statement
  }

  func check(_ status: CInt) throws {
    guard status == SQLITE_OK else {
      throw BenchmarkError(.system, "SQLite: \(String(cString: sqlite3_errmsg(connection)))")
    }
  }
}
