import PandoURLSession
import Foundation
import Pando

/// The library at work: managers over a store and a server, and three views that follow.
@MainActor
final class Session {
  let container: CoreManagerContainer
  let queue: APIClientQueue
  let views: [any ContentView]
  private let store: ModelStore
  /// One for each request that has come to an end.
  private let endings: AsyncStream<Void>

  /// All books by title.
  private static let catalogue = Query<Book>(order: [.ascending(\.title)])
  /// Loans with their books and the authors of these.
  private static let desk = GraphShape<Loan>.including(GraphPath(\.book, \.author))

  /// Opens the library.
  ///
  /// - Parameters:
  ///   - directory: Where its store is.
  ///   - server: Where the server is, if it is there.
  /// - Throws: What keeps the store from being opened.
  init(directory: String, server: URL) throws {
    let (endings, continuation) = AsyncStream.makeStream(of: Void.self)
    self.endings = endings
    store = try ModelStore(path: directory)
    let client = URLSessionAPIClient(baseURL: server)
    var configuration = QueueConfiguration()
    configuration.onEvent = { event in
      switch event {
      case .confirmed, .failed: continuation.yield()
      default: break
      }
    }
    queue = APIClientQueue.open(for: store, client: client, configuration: configuration)
    container = try CoreManagerContainer(
      entities: Author.self, Book.self, Loan.self, client: client, diskStoreConfig: .store(store))
    let (authors, books, loans) = (
      container[Author.self], container[Book.self], container[Loan.self]
    )
    views = [
      View("Authors", authors.continuousAll().values) {
        try await authors.all()
      } text: {
        $0.entities.map(\.description).joined(separator: ", ")
      },
      View("Catalogue", books.continuousSearch(withQuery: Self.catalogue).values) {
        try await books.search(withQuery: Self.catalogue)
      } text: {
        $0.entities.map(\.description).joined(separator: ", ")
      },
      View("Loans", loans.continuousGraph(shape: Self.desk)) {
        try await loans.graph(shape: Self.desk)
      } text: {
        Self.text($0)
      },
    ]
  }

  private static func text(_ graph: EntityGraph<Loan>) -> String {
    graph.roots.map { loan in
      let book = graph[loan.book]
      let author = book.flatMap { graph[$0.author] }
      return "\(loan.reader) has \(book?.title ?? "?") by \(author?.name ?? "?")"
    }.joined(separator: ", ")
  }

  /// Asks the server for everything.
  func fetch() async throws -> String {
    let authors = try await container[Author.self].all(in: .remote())
    let books = try await container[Book.self].all(in: .remote())
    let loans = try await container[Loan.self].all(in: .remote())
    return "\(authors.count) authors, \(books.count) books, \(loans.count) loans"
  }

  /// Waits until the server has everything that waits for it.
  func drain() async throws -> String {
    queue.flush()
    var iterator = endings.makeAsyncIterator()
    while try queue.requests().contains(where: { $0.state != .failed }) {
      await iterator.next()
    }
    let failed = try queue.requests().map { "\($0.request): \($0.lastFailure ?? "?")" }
    return failed.isEmpty ? "nothing waits any more" : failed.joined(separator: ", ")
  }

  /// What waits for the server, in order.
  func waiting() throws -> String {
    let requests = try queue.requests().map { "\($0.request)" }
    return requests.isEmpty ? "nothing waits" : requests.joined(separator: ", ")
  }

  /// Checks every page, record and index of the store.
  func verify() throws -> String {
    let report = try store.verify()
    return report.isClean ? "the store is whole" : "\(report.problems)"
  }

  /// Ends all views, keeps what waits, and closes the store.
  func close() async {
    await container.close()
    await store.close()
  }
}
