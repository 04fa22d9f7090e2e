import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Entities that are not on disk are shown in step too: by followed queries, by providers, and beside a store.
@Suite struct MemoryInStepTests {
  /// So many that it shows in each run when views are out of step.
  private static let writeCount = 500
  private static let snapshotCount = 200

  private func withContainer(
    hasDisk: Bool, _ body: (CoreManagerContainer) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Sheet.self, Book.self, diskStoreConfig: hasDisk ? .store(store) : .none)
      try await body(container)
      await container.close()
    }
  }

  /// The result of a query with a follower: an iteration that begins gets it without waiting.
  private static func shown<E>(_ query: FollowedQuery<E>) async throws -> [E] {
    var values = query.makeAsyncIterator()
    return try await values.next()?.entities ?? []
  }

  /// The result of a query, for a thread that may block.
  private static func shownNow<E>(_ query: FollowedQuery<E>) -> [E] {
    let isDone = Event()
    let found = Found<[E]>()
    Task {
      found.value = try await shown(query)
      isDone.signal()
    }
    isDone.wait()
    return found.value ?? []
  }

  @Test(arguments: [false, true])
  func `after an awaited write no followed query is behind, beside other writers`(hasDisk: Bool)
    async throws
  {
    try await withContainer(hasDisk: hasDisk) { container in
      let sheets = container[Sheet.self]
      let all = sheets.followAll()
      let even = sheets.follow(Query(filter: \.isEven == true))
      // Whoever iterates keeps the query that others join.
      var values = all.makeAsyncIterator()
      var evenValues = even.makeAsyncIterator()
      try await expectNext(&values, [])
      try await expectNext(&evenValues, [])
      let behind = try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<4 {
          group.addTask {
            var behind = 0
            for number in 0..<Self.writeCount {
              let sheet = Sheet("\(task)", number)
              let isThere = !number.isMultiple(of: 5)
              if isThere {
                try await sheets.set(sheet)
              } else {
                try await sheets.remove(atID: sheet.id)
              }
              if try await Self.shown(all).contains(sheet) != isThere { behind += 1 }
              let isShown = isThere && sheet.isEven
              if try await Self.shown(even).contains(sheet) != isShown { behind += 1 }
              if try await Self.shown(even).contains(where: { $0.id == sheet.id }) != isShown {
                behind += 1
              }
            }
            return behind
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(behind == 0)
    }
  }

  @Test(arguments: [false, true], [Query.all, Query<Sheet>(uniqueBy: [.field(\.number)])])
  fileprivate func `in a snapshot providers and a followed query show one version`(
    hasDisk: Bool, query: Query<Sheet>
  ) async throws {
    try await withContainer(hasDisk: hasDisk) { container in
      let (sheets, live) = (container[Sheet.self], container.dataModelManager)
      let left = DataProvider<Sheet>(dataModelManager: live)
      let right = DataProvider<Sheet>(dataModelManager: live)
      try await left.setData(Sheet("left", 0), updateCache: false).committed()
      try await right.setData(Sheet("right", 0), updateCache: false).committed()
      try await sheets.set([Sheet("left", 2), Sheet("right", 3)])
      let followed = sheets.follow(query)
      var values = followed.makeAsyncIterator()
      try await expectNext(&values, [Sheet("left", 2), Sheet("right", 3)])
      let isOver = Found<Bool>()
      async let behind = {
        var (number, behind) = (4, 0)
        while isOver.value == nil {
          // Several at once: the memory is ahead of what is shown. A query that shows one entity for
          // each number is filled anew each time.
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
              let both = [Sheet("left", number), Sheet("right", number + 1)]
              group.addTask { try await sheets.set(both) }
              number += 2
            }
            try await group.waitForAll()
          }
          let stored = try await sheets.get(byIDs: [.remote("left"), .remote("right")]).entities
          if [left.data, right.data] != stored { behind += 1 }
          await Task.yield()
        }
        return behind
      }()
      let apart = await blocking {
        (0..<Self.snapshotCount).count { _ in
          live.snapshot { snapshot in
            let models = [snapshot.data(of: left), snapshot.data(of: right)]
            return models != Self.shownNow(followed)
          }
        }
      }
      isOver.value = true
      #expect(try await behind == 0)
      #expect(apart == 0)
    }
  }

  @Test func `a query that begins while others write misses nothing`() async throws {
    let sheets = CoreManager<Sheet>(stores: [InMemoryStore()])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          // Each another one: what is missed stays missed.
          for number in 0..<Self.writeCount / 4 {
            try await sheets.set(Sheet("\(task) \(number)", number))
          }
        }
      }
      var followed: [FollowedQuery<Sheet>] = []
      var iterators: [FollowedSequence<QueryResult<Sheet>>.AsyncIterator] = []
      for _ in 0..<Self.snapshotCount / 4 {
        let query = sheets.followAll()
        var values = query.makeAsyncIterator()
        _ = try await values.next()
        followed.append(query)
        iterators.append(values)
      }
      try await group.waitForAll()
      let all = try await sheets.all().entities
      for query in followed {
        let shown = try await Self.shown(query)
        try #require(shown == all)
      }
      withExtendedLifetime(iterators) {}
    }
  }

  @Test func `a provider loses what a manager removes from memory`() async throws {
    try await withContainer(hasDisk: false) { container in
      let provider = DataProvider<Sheet>(dataModelManager: container.dataModelManager)
      try await provider.setData(Sheet("a", 1)).committed()
      try await container[Sheet.self].set(Sheet("a", 2))
      #expect(provider.data == Sheet("a", 2))
      try await container[Sheet.self].removeAll()
      #expect(provider.data == nil)
    }
  }

  @Test func `queries over disk and over memory are in step in one container`() async throws {
    try await withContainer(hasDisk: true) { container in
      let (books, sheets) = (container[Book.self], container[Sheet.self])
      let provider = DataProvider<Book>(dataModelManager: container.dataModelManager)
      try await provider.setData(Book("1", "0")).committed()
      try await sheets.set(Sheet("1", 0))
      let (stored, kept) = (books.followAll(), sheets.followAll())
      var storedValues = stored.makeAsyncIterator()
      var keptValues = kept.makeAsyncIterator()
      try await expectNext(&storedValues, [Book("1", "0")])
      try await expectNext(&keptValues, [Sheet("1", 0)])
      let isOver = Found<Bool>()
      async let behind = {
        var (number, behind) = (0, 0)
        while isOver.value == nil {
          number += 1
          try await books.set(Book("1", "\(number)"))
          if try await Self.shown(stored) != [Book("1", "\(number)")] { behind += 1 }
          try await sheets.set(Sheet("1", number))
          if try await Self.shown(kept) != [Sheet("1", number)] { behind += 1 }
          await Task.yield()
        }
        return behind
      }()
      let apart = await blocking {
        (0..<Self.snapshotCount).count { _ in
          container.dataModelManager.snapshot { snapshot in
            let (book, sheet) = (Self.shownNow(stored).first, Self.shownNow(kept).first)
            guard let onDisk = book.flatMap({ Int($0.title) }), let inMemory = sheet?.number
            else { return true }
            // Each is awaited before the other is written.
            return snapshot.data(of: provider) != book
              || !(onDisk - 1...onDisk).contains(inMemory)
          }
        }
      }
      isOver.value = true
      #expect(try await behind == 0)
      #expect(apart == 0)
    }
  }

  @Test func `an entity that a limited memory removes is not shown after the write`() async throws {
    let sheets = CoreManager<Sheet>(stores: [LRUStore(store: InMemoryStore(), limit: 2)])
    let all = sheets.followAll()
    var values = all.makeAsyncIterator()
    try await expectNext(&values, [])
    var expected: [Sheet] = []
    for number in 0..<Self.writeCount {
      try await sheets.set(Sheet("\(number)", number))
      expected = expected.suffix(1) + [Sheet("\(number)", number)]
      let shown = try await Self.shown(all)
      try #require(shown == expected)
    }
  }

  @Test func `every manager over a memory shows what any of them has written`() async throws {
    let store = InMemoryStore<Sheet>()
    let managers = (0..<3).map { _ in CoreManager(stores: [store]) }
    let queries = managers.map { $0.followAll() }
    var iterators = queries.map { $0.makeAsyncIterator() }
    for index in iterators.indices { try await expectNext(&iterators[index], []) }
    for number in 0..<Self.writeCount {
      try await managers[number % 3].set(Sheet("a", number))
      for query in queries {
        let shown = try await Self.shown(query)
        try #require(shown == [Sheet("a", number)])
      }
    }
  }

  private final class Held {
    weak var providers: DataModelManager?
    weak var manager: CoreManager<Sheet>?
  }

  /// A container that is closed while somebody follows, over a memory that others go on to use.
  private func useOnce(_ held: Held, _ memory: InMemoryStore<Sheet>) async throws {
    let container = try CoreManagerContainer(
      entities: Sheet.self, diskStoreConfig: .none(custom: memory))
    let sheets = container[Sheet.self]
    held.providers = container.dataModelManager
    held.manager = sheets
    let provider = DataProvider<Sheet>(dataModelManager: container.dataModelManager)
    provider.setData(Sheet("a", 1))
    var values = sheets.followAll().makeAsyncIterator()
    _ = try await values.next()
    try await sheets.set(Sheet("a", 2))
    memory.keep([Sheet("a", 3)])
    await container.close()
    while try await values.next() != nil {}
  }

  @Test func `a closed container is freed though its memory is not`() async throws {
    let memory = InMemoryStore<Sheet>()
    let rounds = (0..<60).map { _ in Held() }
    for held in rounds { try await useOnce(held, memory) }
    // A round more, so that no thread is still at work for the others.
    try await useOnce(Held(), memory)
    #expect(rounds.count { $0.providers != nil } == 0)
    #expect(rounds.count { $0.manager != nil } == 0)
    #expect(memory.count == 1)
  }
}

/// A sheet of paper: in memory only, or where a container says.
private struct Sheet: LocalEntity {
  var id: EntityIdentifier<Sheet>
  var number: Int
  var isEven: Bool

  static let fields: [Field<Sheet>] = [
    .field(\.number, "number"), .field(\.isEven, "isEven"),
  ]

  init(_ id: String, _ number: Int) {
    self.id = .remote(id)
    self.number = number
    isEven = number.isMultiple(of: 2)
  }

  static func stores(with configuration: StackConfiguration) -> [any Storing<Sheet>] {
    [configuration.diskStoreConfig.custom as? InMemoryStore<Sheet> ?? InMemoryStore()]
  }
}

/// A value that one sets and another one looks at.
private final class Found<Value: Sendable>: Sendable {
  private let state = Locked<Value?>(nil)

  var value: Value? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
