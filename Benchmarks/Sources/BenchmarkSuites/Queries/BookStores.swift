import CPeerSQLite
import Pando

/// Books in a Pando store.
final class PandoBooks: Sendable {
  private let models: PandoModels

  init(_ directory: WorkingDirectory) throws {
    models = try PandoModels(directory, .unsynchronized)
  }

  /// Stores the books with their indexes.
  func fill(_ library: Library) throws {
    try models.store.addIndexes(of: [Book.self])
    try models.put(library.books)
  }

  /// Asks, in a read transaction each.
  func ask(_ queries: [BookQuery], _ latencies: Latencies) throws -> UInt64 {
    var checksum = BookChecksum()
    for query in queries {
      try latencies.time {
        let found = try models.store.read { try $0.find(query.query) }
        for book in found.entities { checksum.add(book) }
      }
    }
    return checksum.value
  }
}

/// Books in an SQLite database; the answers become the same Swift structs.
final class SQLiteBooks {
  private let books: OpaquePointer

  init(_ directory: WorkingDirectory) throws {
    var books: OpaquePointer?
    try SQLiteModels.check(
      sqlite_books_open(directory.path, Durability.unsynchronized.peer(of: .sqlite), &books))
    guard let books else { preconditionFailure("a database that was opened is not nil") }
    self.books = books
  }

  deinit { sqlite_books_close(books) }

  func fill(_ library: Library) throws {
    let flat = FlatBooks(library.books)
    try SQLiteModels.check(sqlite_books_fill(books, flat.rows, flat.rows.count))
  }

  /// Asks; without BEGIN a statement is a transaction.
  func ask(_ queries: [BookQuery], _ latencies: Latencies) throws -> UInt64 {
    let arena = TextArena()
    var checksum = BookChecksum()
    for query in queries {
      let text = if case .book(let key) = query { arena.text(key) } else { peer_text() }
      try latencies.time {
        try SQLiteModels.check(query.begin(books, text))
        defer { sqlite_books_done(books) }
        var found: [Book] = []
        var row = peer_book()
        var isThere: CInt = 0
        while true {
          try SQLiteModels.check(sqlite_books_next(books, &row, &isThere))
          guard isThere != 0 else { break }
          found.append(
            Book(
              id: .remote(row.identifier.string), title: row.title.string, year: Int(row.year),
              shelf: Int(row.shelf), rating: row.rating, isLent: row.is_lent != 0))
        }
        for book in found { checksum.add(book) }
      }
    }
    return checksum.value
  }
}
