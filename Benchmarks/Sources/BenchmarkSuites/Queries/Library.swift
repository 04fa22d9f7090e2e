import CPeerSQLite
import Pando

/// Books in an order of their own: the same for the same seed.
struct Library {
  /// How many books share a shelf.
  static let booksPerShelf = 20
  /// How many books a range of years finds.
  static let booksPerRange = 50

  let books: [Book]

  init(seed: UInt64, count: Int) {
    var random = SeededGenerator(seed: seed)
    // Each year once, so that a range has as many books as years.
    let years = (0..<count).shuffled(using: &random)
    let shelfCount = max(1, count / Self.booksPerShelf)
    books = (0..<count).map { number in
      Book(
        id: .remote("b\(number)"),
        title: "The book \(random.next() % 1_000_000) of tree number \(number)",
        year: years[number], shelf: Int.random(in: 0..<shelfCount, using: &random),
        rating: Double(Int.random(in: 0..<1000, using: &random)) / 1000,
        isLent: Bool.random(using: &random))
    }
  }

  /// Numbers below a bound, the same for the same seed.
  func numbers(_ count: Int, below bound: Int) -> [Int] {
    var random = SeededGenerator(seed: UInt64(books.count))
    return (0..<count).map { _ in Int.random(in: 0..<max(1, bound), using: &random) }
  }
}

/// Books as C structs.
final class FlatBooks: @unchecked Sendable {
  // Not changed after it was made.
  let rows: [peer_book]
  private let arena = TextArena()

  init(_ books: [Book]) {
    let arena = arena
    rows = books.map { book in
      peer_book(
        identifier: arena.text(book.id.text), title: arena.text(book.title),
        year: Int64(book.year), shelf: Int64(book.shelf), rating: book.rating,
        is_lent: book.isLent ? 1 : 0)
    }
  }
}

/// A checksum of a result, to compare systems by.
struct BookChecksum {
  private var fingerprint = Fingerprint()
  private var sum: UInt64 = 0

  mutating func add(_ book: Book) {
    fingerprint.add(book.id.text.utf8)
    sum &+= UInt64(book.title.utf8.count + book.year + book.shelf) &+ book.rating.bitPattern
    sum &+= book.isLent ? 1 : 0
  }

  var value: UInt64 { fingerprint.value &+ sum }
}
