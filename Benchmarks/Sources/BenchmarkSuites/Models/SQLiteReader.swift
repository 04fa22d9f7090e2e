import CSystemSQLite

/// A prepared query that finds one model by its identifier.
final class SQLiteReader<Value> {
  private let database: SQLiteDatabase
  private let statement: OpaquePointer
  private let make: (OpaquePointer) -> Value

  /// Prepares the query.
  ///
  /// - Parameters:
  ///   - database: Where to look.
  ///   - sql: The query; its only parameter is the identifier.
  ///   - make: Makes the model from the columns of a row.
  /// - Throws: ``BenchmarkError`` if SQLite refuses the query.
  init(
    _ database: SQLiteDatabase, _ sql: String, _ make: @escaping (OpaquePointer) -> Value
  ) throws {
    self.database = database
    self.make = make
    statement = try database.prepare(sql)
  }

  deinit {
    sqlite3_finalize(statement)
  }

  /// Finds a model; outside a transaction this is a read transaction of its own.
  func model(_ identifier: String) throws -> Value {
    var identifier = identifier
    return try identifier.withUTF8 { bytes in
      // Static: the bytes outlive the step, and the next bind replaces them.
      let text = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(statement, 1, text, CInt(bytes.count), nil)
      defer { sqlite3_reset(statement) }
      guard sqlite3_step(statement) == SQLITE_ROW else {
        throw BenchmarkError(
          .wrongResult, "SQLite does not find a model: \(sqlite3_errcode(database.connection))")
      }
      return make(statement)
    }
  }
}

extension SQLiteReader<Person> {
  /// Finds people.
  convenience init(_ database: SQLiteDatabase) throws {
    try self.init(
      database,
      """
      SELECT identifier, name, email, about, age, followerCount, score, isVerified
      FROM person WHERE identifier = ?1
      """
    ) { row in
      Person(
        identifier: text(row, 0), name: text(row, 1), email: text(row, 2), about: text(row, 3),
        age: Int(sqlite3_column_int64(row, 4)), followerCount: Int(sqlite3_column_int64(row, 5)),
        score: sqlite3_column_double(row, 6), isVerified: sqlite3_column_int(row, 7) != 0)
    }
  }
}

extension SQLiteReader<Message> {
  /// Finds messages with author and image.
  convenience init(_ database: SQLiteDatabase) throws {
    try self.init(
      database,
      """
      SELECT m.identifier, m.text, m.sentAt, m.likeCount, a.identifier, a.name, a.followerCount,
        m.image IS NOT NULL, i.identifier, i.url, i.width, i.height
      FROM message m JOIN author a ON a.id = m.author LEFT JOIN image i ON i.id = m.image
      WHERE m.identifier = ?1
      """
    ) { row in
      Message(
        identifier: text(row, 0), text: text(row, 1), sentAt: Int(sqlite3_column_int64(row, 2)),
        likeCount: Int(sqlite3_column_int64(row, 3)),
        author: Author(
          identifier: text(row, 4), name: text(row, 5),
          followerCount: Int(sqlite3_column_int64(row, 6))),
        image: sqlite3_column_int(row, 7) == 0 ? nil : image(row))
    }
  }
}

private func image(_ row: OpaquePointer) -> Image {
  Image(
    identifier: text(row, 8), url: text(row, 9), width: Int(sqlite3_column_int64(row, 10)),
    height: Int(sqlite3_column_int64(row, 11)))
}

/// The text of a column.
@inline(__always)
private func text(_ row: OpaquePointer, _ column: CInt) -> String {
  let bytes = sqlite3_column_text(row, column)
  let count = Int(sqlite3_column_bytes(row, column))
  return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}
