import Foundation
import Pando
import PandoURLSession

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
  /// - Throws: The reason why the store can't be opened.
  init(directory: String, server: URL) throws {
    let (endings, continuation) = AsyncStream.makeStream(of: Void.self)
    self.endings = endings
    store = try ModelStore(path: directory)
    var transport = URLSessionAPIClient.Configuration()
    // One at a time, so that the story is the same each time; a service takes four, or more.
    transport.laneCountMaximum = 1
    let client = URLSessionAPIClient(baseURL: server, configuration: transport)
    var configuration = QueueConfiguration()
    // The server is on this machine: to ask whether it is back costs little.
    configuration.retryInterval = .seconds(1)
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
      View("Authors", authors.followAll()) {
        try await authors.all()
      } text: {
        $0.entities.map(\.description).joined(separator: ", ")
      },
      View("Catalogue", books.follow(Self.catalogue)) {
        try await books.search(withQuery: Self.catalogue)
      } text: {
        $0.entities.map(\.description).joined(separator: ", ")
      },
      View("Loans", loans.followGraph(shape: Self.desk)) {
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
    let failed = try queue.requests().map { $0.lastFailure ?? "\($0.request) failed" }
    return failed.isEmpty ? "nothing waits any more" : failed.joined(separator: ", ")
  }

  /// The requests that wait for the server, in order.
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

/// The work at the desk of the library, with or without a server.
extension Session {
  /// Enters an author.
  func addAuthor(_ name: String) async throws -> String {
    let author = Author(id: EntityIdentifier(), name: name)
    let written = try await container[Author.self].set(author, in: .localAndRemote)
    return "author \(name) is \(written.state)"
  }

  /// Enters a book of a known author.
  func addBook(_ title: String, by name: String) async throws -> String {
    let author = try await author(name)
    let book = Book(id: EntityIdentifier(), title: title, author: author.id)
    let written = try await container[Book.self].set(book, in: .localAndRemote)
    return "book \(title) is \(written.state)"
  }

  /// Lends a book.
  func lend(_ title: String, to reader: String) async throws -> String {
    let loan = Loan(id: EntityIdentifier(), book: try await book(title).id, reader: reader)
    let written = try await container[Loan.self].set(loan, in: .localAndRemote)
    return "loan of \(title) is \(written.state)"
  }

  /// Gives a book another title.
  func rename(_ title: String, to newTitle: String) async throws -> String {
    var book = try await book(title)
    book.title = newTitle
    let written = try await container[Book.self].set(book, in: .localAndRemote)
    return "title \(newTitle) is \(written.state)"
  }

  /// Says who has written a book.
  func credit(_ title: String, to name: String) async throws -> String {
    let author = try await author(name)
    let id = try await book(title).id
    let written = try await container[Book.self].update(byID: id, in: .localAndRemote) {
      $0.author = author.id
    }
    return "\(name) for \(title) is \(written.state)"
  }

  /// Whether the server has the books as they are here.
  func states() async throws -> String {
    let books = try await container[Book.self].search(withQuery: Self.catalogue).entities
    return try await store.read { snapshot in
      try books.map { "\($0.title) is \(try snapshot.synchronizationState(of: $0.id))" }
    }.joined(separator: ", ")
  }

  private func author(_ name: String) async throws -> Author {
    let authors = container[Author.self]
    guard let author = try await authors.first(for: Query(filter: \Author.name == name)) else {
      throw UsageError("there is no author \(name)")
    }
    return author
  }

  private func book(_ title: String) async throws -> Book {
    guard let book = try await container[Book.self].first(for: Query(filter: \Book.title == title))
    else { throw UsageError("there is no book \(title)") }
    return book
  }
}

/// The library as a process of its own, which does what the lines of its standard input say.
@MainActor
struct SessionCommands {
  private let session: Session

  /// Opens the library.
  init(directory: String, server: URL) throws {
    session = try Session(directory: directory, server: server)
  }

  /// Carries out line after line, and ends with the input.
  func run() async {
    for await line in StandardInput.lines {
      do {
        for answer in try await carryOut(line.split(separator: "|").map(String.init)) {
          say(answer)
        }
      } catch {
        say("Desk|\(error)")
      }
      say(Companion.end)
    }
    await session.close()
  }

  private func carryOut(_ words: [String]) async throws -> [String] {
    switch (words.first ?? "", words.count) {
    case ("fetch", 1): return ["Desk|has \(try await session.fetch())"]
    case ("author", 2): return ["Desk|\(try await session.addAuthor(words[1]))"]
    case ("book", 3): return ["Desk|\(try await session.addBook(words[1], by: words[2]))"]
    case ("lend", 3): return ["Desk|\(try await session.lend(words[1], to: words[2]))"]
    case ("rename", 3): return ["Desk|\(try await session.rename(words[1], to: words[2]))"]
    case ("credit", 3): return ["Desk|\(try await session.credit(words[1], to: words[2]))"]
    case ("states", 1): return ["Desk|\(try await session.states())"]
    case ("queue", 1): return ["Queue|\(try session.waiting())"]
    case ("drain", 1): return ["Queue|\(try await session.drain())"]
    case ("verify", 1): return ["Store|\(try session.verify())"]
    case ("views", 1):
      var lines: [String] = []
      for view in session.views { lines.append("\(view.title)|\(try await view.settled())") }
      return lines
    default: throw UsageError("“\(words.joined(separator: "|"))” is no command")
    }
  }

  private func say(_ line: String) { StandardOutput.write(line) }
}
