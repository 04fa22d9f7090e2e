import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// A contract leaves entities out of searches, their pages and followed queries.
@Suite struct ContractTests {
  /// Two books a year; those without a title break the contract.
  private static let books = [
    Book("1", "", year: 1), Book("2", "B", year: 1), Book("3", "", year: 2),
    Book("4", "D", year: 2), Book("5", "E", year: 3), Book("6", "F", year: 3),
  ]
  private static let hasTitle = ClosureContract<Book> { book, _ in !book.title.isEmpty }
  private static let titled = ReadContext<Book>.local.with(contract: hasTitle)
  private static let newest = Query<Book>(order: [.descending(\.year)])
  private static let oneOfEachYear = Query<Book>(
    order: [.descending(\.year)], uniqueBy: [.field(\.year)])

  private func keys(
    _ books: CoreManager<Book>, _ query: Query<Book>, after last: Book? = nil,
    in context: ReadContext<Book> = titled
  ) async throws -> [String] {
    let found =
      if let last {
        try await books.search(withQuery: query, after: last, in: context)
      } else {
        try await books.search(withQuery: query, in: context)
      }
    return found.entities.map(\.id.text)
  }

  /// The entity that broke the contract stood for its year, so the result was empty.
  @Test(arguments: LocalStoreTests.Kind.allCases)
  func `uniqueness keeps the first entity that meets the contract`(kind: LocalStoreTests.Kind)
    async throws
  {
    try await withModelStore { store in
      let books = CoreManager<Book>(stores: [kind.make(store)])
      try await books.set(Self.books)
      #expect(try await keys(books, Self.oneOfEachYear) == ["5", "4", "2"])
      var query = Self.oneOfEachYear
      query.limit = 2
      #expect(try await keys(books, query) == ["5", "4"])
      query.offset = 1
      #expect(try await keys(books, query) == ["4", "2"])
      query.offset = 0
      #expect(try await keys(books, query, after: Self.books[4]) == ["4", "2"])
      #expect(try await keys(books, query, after: Self.books[3]) == ["2"])
      let count = try await books.answer(.count, to: Self.oneOfEachYear, in: Self.titled)
      #expect(count == 3)
      var grouped = Self.oneOfEachYear
      grouped.groupedBy = .field(\.year)
      let groups = try await books.search(withQuery: grouped, in: Self.titled).groups
      #expect(groups.map { $0.entities.map(\.id.text) } == [["5"], ["4"], ["2"]])
      // Without a contract the first of each year counts.
      #expect(try await keys(books, Self.oneOfEachYear, in: .local) == ["5", "3", "1"])
    }
  }

  @Test func `a search reads the next store if all entities of a value break the contract`()
    async throws
  {
    let memory = ScriptedStore<Book>(.memory, [Book("1", "", year: 1), Book("2", "", year: 2)])
    let disk = ScriptedStore<Book>(.disk, [Book("1", "A", year: 1), Book("2", "", year: 2)])
    let books = CoreManager<Book>(stores: [memory, disk])
    #expect(try await keys(books, Self.oneOfEachYear) == [], "year 2 has no valid book")
    #expect(memory.calls.count == 1 && disk.calls.count == 1)
    var first = Self.oneOfEachYear
    first.offset = 1
    #expect(try await keys(books, first) == ["1"], "the offset skips year 2")
    #expect(memory.calls.count == 2 && disk.calls.count == 2)
  }

  /// A page was empty if any entity of the whole result broke the contract.
  @Test(arguments: LocalStoreTests.Kind.allCases)
  func `only the entities of the window count, in a search and in a page`(
    kind: LocalStoreTests.Kind
  ) async throws {
    try await withModelStore { store in
      let books = CoreManager<Book>(stores: [kind.make(store)])
      let shelf = [
        Book("1", "A", year: 4), Book("2", "B", year: 3), Book("3", "C", year: 2),
        Book("4", "", year: 1),
      ]
      try await books.set(shelf)
      var query = Self.newest
      query.limit = 2
      #expect(try await keys(books, query) == ["1", "2"])
      query.limit = 1
      #expect(try await keys(books, query, after: shelf[1]) == ["3"])
      #expect(try await keys(books, query, after: shelf[2]) == [])
      query.limit = 2
      #expect(try await keys(books, query, after: shelf[1]) == [], "one of the page breaks it")
    }
  }

  @Test(arguments: LocalStoreTests.Kind.allCases)
  func `a followed query leaves out what breaks the contract, where a search has no result`(
    kind: LocalStoreTests.Kind
  ) async throws {
    try await withModelStore { store in
      let books = CoreManager<Book>(stores: [kind.make(store)])
      try await books.set(Self.books)
      #expect(try await keys(books, Self.newest) == [], "no further store is left")
      #expect(try await books.answer(.count, to: Self.newest, in: Self.titled) == 0)
      let followed = books.follow(Self.newest, in: Self.titled)
      var values = followed.makeAsyncIterator()
      #expect(try await values.next()?.entities.map(\.id.text) == ["5", "6", "4", "2"])
    }
  }

  @Test(arguments: LocalStoreTests.Kind.allCases)
  func `a followed query with uniqueness keeps the first entity that meets the contract`(
    kind: LocalStoreTests.Kind
  ) async throws {
    try await withModelStore { store in
      let books = CoreManager<Book>(stores: [kind.make(store)])
      try await books.set(Self.books)
      var query = Self.oneOfEachYear
      query.limit = 2
      let followed = books.follow(query, in: Self.titled)
      var values = followed.makeAsyncIterator()
      func next() async throws -> [String]? {
        try await values.next()?.entities.map(\.id.text)
      }
      #expect(try await next() == ["5", "4"])
      // A book that begins to meet the contract takes the place of a later one.
      try await books.updateIfPresent(byID: .remote("3")) { $0.title = "C" }
      #expect(try await next() == ["5", "3"])
      try await books.updateIfPresent(byID: .remote("5")) { $0.title = "" }
      #expect(try await next() == ["6", "3"])
      try await books.remove(atID: .remote("6"))
      #expect(try await next() == ["3", "2"])
      try await books.updateIfPresent(byID: .remote("1")) { $0.title = "A" }
      #expect(try await next() == ["3", "1"])
    }
  }

  @Test func `uniqueness is applied after the contract to the content of a server`() async throws {
    try await withModelStore { store in
      let server = APIClientDouble()
      let body = Data(
        #"""
        [{"id":1,"title":"","year":1},{"id":2,"title":"B","year":1},{"id":3,"title":"C","year":2},
        {"id":4,"title":"D","year":2}]
        """#.utf8)
      server.answer(.get, "/songs", with: APIResponse(status: 200, body: body))
      let container = try CoreManagerContainer(
        entities: Song.self, client: server, diskStoreConfig: .store(store))
      let songs = container[Song.self]
      let context = ReadContext<Song>.remote().with(
        contract: ClosureContract { song, _ in !song.title.isEmpty })
      var query = Query<Song>(order: [.ascending(\.year)], uniqueBy: [.field(\.year)])
      let found = try await songs.search(withQuery: query, in: context)
      #expect(found.entities.map(\.title) == ["B", "C"])
      // The value that the caller received is stored.
      #expect(try await songs.get(byID: .remote(2))?.title == "B")
      query.limit = 1
      let first = try await songs.search(withQuery: query, in: context)
      #expect(first.entities.map(\.title) == ["B"])
      let next = try await songs.search(withQuery: query, after: first.entities[0], in: context)
      #expect(next.entities.map(\.title) == ["C"])
      await container.close()
    }
  }
}

private struct Song: PersistentEntity, RemoteEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Song>
  var title: String
  var year: Int
  static let endpoint: APIPath = "/songs"
  static let fields: [Field<Song>] = [.field(\.title), .field(\.year)]
}
