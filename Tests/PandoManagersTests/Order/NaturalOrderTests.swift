import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// Every way of asking gives entities in one natural order, and with a limit the same ones.
@Suite struct NaturalOrderTests {
  private static let queries: [Query<Book>] = [
    Query(), Query(limit: 3), Query(offset: 2, limit: 3), Query(filter: \.year == 1),
    Query(filter: \.year == 1, limit: 2), Query(order: [.ascending(\.year)]),
    Query(order: [.descending(\.year)], limit: 3),
    Query(filter: \.year > 0, order: [.ascending(\.year), .natural], offset: 1, limit: 4),
    Query(uniqueBy: [.init(\.year)]),
    Query(filter: .ids(["c", "a", "e"].map { .remote($0) })),
  ]

  private func texts(_ books: [Book]) -> [String] { books.map(\.id.text) }

  /// The results of all ways to read, each under its name.
  private func answers(
    _ query: Query<Book>, _ manager: CoreManager<Book>, _ store: ModelStore?
  ) async throws -> [(way: String, ids: [String])] {
    let found = try await manager.search(withQuery: query)
    var answers = [("search", texts(found.entities))]
    answers.append(
      ("identifiers", try await manager.identifiers(matching: query).map(\.text)))
    var followed = manager.follow(query).makeAsyncIterator()
    answers.append(("followed", texts(try await followed.next()?.entities ?? [])))
    // Pages of two, of what has no window of its own.
    if query.limit == nil, query.offset == 0, query.uniqueBy.isEmpty {
      var paged: [Book] = []
      var page = query
      page.limit = 2
      var next = try await manager.search(withQuery: page).entities
      while let last = next.last {
        paged += next
        next = try await manager.search(withQuery: page, after: last).entities
      }
      answers.append(("pages", texts(paged)))
    }
    guard let store else { return answers }
    try store.readAndWait { snapshot in
      answers.append(("snapshot", texts(try snapshot.find(query).entities)))
      let identifiers = try snapshot.identifiers(matching: query)
      answers.append(("snapshot's identifiers", identifiers.map(\.text)))
      let count = try snapshot.answer(.count, to: query)
      #expect(count == identifiers.count)
    }
    if query.limit == nil, query.offset == 0, query.uniqueBy.isEmpty {
      var page = query
      page.limit = 2
      do {
        var next = try await store.page(of: page)
        var paged = next.entities
        while let cursor = next.next {
          next = try await store.page(of: page, at: cursor)
          paged += next.entities
        }
        answers.append(("cursors", texts(paged)))
      } catch let error as QueryError where error.code == .noPages {
        // A server has ordered the entities.
      }
    }
    var live = store.follow(query).makeAsyncIterator()
    answers.append(("followed store", texts(try await live.next()?.entities ?? [])))
    return answers
  }

  @Test(arguments: [false, true], seeds(6))
  func `all ways of asking agree after answers have reordered entities`(
    onDisk: Bool, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote)
      let local: any Storing<Book> =
        onDisk ? DiskStore(modelStore: store) : InMemoryStore()
      let manager = CoreManager(stores: [local, remote])
      let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
      for step in 0..<8 {
        if step % 2 == 0 {
          let some = names.shuffled(using: &random).prefix(3)
          try await manager.set(some.map { Book($0, year: Int.random(in: 0...2, using: &random)) })
        } else {
          let year = Int.random(in: 0...2, using: &random)
          let all = try await manager.search(withQuery: .all).entities
          remote.entities = all.filter { $0.year == year }.shuffled(using: &random)
          _ = try await manager.search(withQuery: Query(filter: \.year == year), in: .remote())
        }
        for (index, query) in Self.queries.enumerated() {
          let answers = try await answers(query, manager, onDisk ? store : nil)
          for answer in answers {
            #expect(
              answer.ids == answers[0].ids,
              "seed \(seed), step \(step), query \(index), \(answer.way)")
          }
        }
      }
    }
  }
}
