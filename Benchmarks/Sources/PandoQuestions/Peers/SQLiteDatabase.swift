import CPeerSQLite
import Foundation

/// A failed call of SQLite.
struct SQLiteError: Error, CustomStringConvertible {
  let description: String
}

/// A database of SQLite in memory, for one thread at a time.
final class SQLiteDatabase {
  private let session: OpaquePointer

  init() throws {
    var opened: OpaquePointer?
    let status = sqlite_session_open(&opened)
    guard status == 0, let opened else {
      throw SQLiteError(
        description: status == -1 ? "SQLite is not installed: Benchmarks/setup" : "\(status)")
    }
    session = opened
  }

  deinit { sqlite_session_close(session) }

  func run(_ sql: String) throws { try check(sqlite_session_run(session, sql), sql) }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    try check(sqlite_statement_make(session, sql, &statement), sql)
    guard let statement else { throw SQLiteError(description: sql) }
    return SQLiteStatement(statement, of: self, sql)
  }

  func check(_ status: Int32, _ sql: String) throws {
    if status != 0 {
      throw SQLiteError(description: String(cString: sqlite_session_error(session)) + ": " + sql)
    }
  }
}

/// A prepared statement.
final class SQLiteStatement {
  private let statement: OpaquePointer
  private let database: SQLiteDatabase
  private let sql: String

  init(_ statement: OpaquePointer, of database: SQLiteDatabase, _ sql: String) {
    self.statement = statement
    self.database = database
    self.sql = sql
  }

  deinit { sqlite_statement_free(statement) }

  /// Runs the statement with values; decimals are stored as hundredths.
  func run(_ values: [Compared] = [], _ row: (SQLiteStatement) -> Void = { _ in }) throws {
    for (index, value) in values.enumerated() {
      try database.check(bind(value, Int32(index + 1)), sql)
    }
    while true {
      var isThere: Int32 = 0
      try database.check(sqlite_statement_next(statement, &isThere), sql)
      if isThere == 0 { return }
      row(self)
    }
  }

  private func bind(_ value: Compared, _ place: Int32) -> Int32 {
    switch value {
    case .null, .list: sqlite_statement_bind_null(statement, place)
    case .bool(let value): sqlite_statement_bind_integer(statement, place, value ? 1 : 0)
    case .int(let value): sqlite_statement_bind_integer(statement, place, Int64(value))
    case .decimal(let value):
      sqlite_statement_bind_integer(
        statement, place, NSDecimalNumber(decimal: value * 100).int64Value)
    case .double(let value): sqlite_statement_bind_double(statement, place, value)
    case .date(let value):
      sqlite_statement_bind_double(statement, place, value.timeIntervalSinceReferenceDate)
    case .text(let text): sqlite_statement_bind_text(statement, place, text, Int32(text.utf8.count))
    }
  }

  func int(_ column: Int) -> Int { Int(sqlite_statement_integer(statement, Int32(column))) }
  func double(_ column: Int) -> Double { sqlite_statement_double(statement, Int32(column)) }
  func isNull(_ column: Int) -> Bool {
    sqlite_statement_kind(statement, Int32(column)) == PEER_NULL
  }

  func text(_ column: Int) -> String {
    var count: Int32 = 0
    guard let bytes = sqlite_statement_text(statement, Int32(column), &count) else { return "" }
    return String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
  }

  func value(_ column: Int, _ kind: ColumnKind) -> Compared {
    if isNull(column) { return .null }
    switch kind {
    case .int: return .int(int(column))
    case .bool: return .bool(int(column) != 0)
    case .decimal: return .decimal(Decimal(int(column)) / 100)
    case .double: return .double(double(column))
    case .text: return .text(text(column))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(column)))
    case .person: return .text("Person:\(int(column))")
    }
  }
}

/// The kind of the values of a column.
enum ColumnKind: Sendable {
  case int, bool, decimal, double, text, date, person
}
