import CPeerSQLite
import Pando

/// A question that all systems are asked.
enum BookQuery: Sendable {
  case book(String)
  case shelf(Int)
  case years(Range<Int>)
  case lentByTitle(limit: Int)
  case rated(above: Int)

  /// For Pando.
  var query: Query<Book> {
    switch self {
    case .book(let key): Query(filter: \.id == .remote(key))
    case .shelf(let shelf): Query(filter: \.shelf == shelf)
    case .years(let years): Query(filter: \.year >= years.lowerBound && \.year < years.upperBound)
    case .lentByTitle(let limit):
      Query(filter: \.isLent == true, order: [.ascending(\.title)], limit: limit)
    case .rated(let thousandths): Query(filter: \.rating > Double(thousandths) / 1000)
    }
  }

  /// Begins the question in SQLite.
  func begin(_ books: OpaquePointer, _ text: peer_text) -> CInt {
    switch self {
    case .book: sqlite_books_begin(books, PEER_BOOK, text, 0, 0)
    case .shelf(let shelf): sqlite_books_begin(books, PEER_SHELF, text, Int64(shelf), 0)
    case .years(let years):
      sqlite_books_begin(
        books, PEER_YEARS, text, Int64(years.lowerBound), Int64(years.upperBound))
    case .lentByTitle(let limit):
      sqlite_books_begin(books, PEER_LENT_BY_TITLE, text, 0, Int64(limit))
    case .rated(let thousandths):
      sqlite_books_begin(books, PEER_RATED, text, Int64(thousandths), 0)
    }
  }
}
