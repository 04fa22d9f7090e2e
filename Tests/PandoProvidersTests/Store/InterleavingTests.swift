import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// All orders of the events of one provider, such as the answers of network and cache.
@Suite struct InterleavingTests {
  enum Step: String, CaseIterable {
    case fetch
    case answer
    case set
    case update
    case delete
  }

  /// All orders of all subsets of the steps, an answer only behind its fetch.
  static let orders: [[Step]] = permutations(Step.allCases).filter { order in
    guard let answer = order.firstIndex(of: .answer) else { return !order.contains(.fetch) }
    return order.firstIndex(of: .fetch).map { $0 < answer } ?? false
  }

  private static func permutations(_ steps: [Step]) -> [[Step]] {
    [[]]
      + steps.flatMap { step in
        permutations(steps.filter { $0 != step }).map { [step] + $0 }
      }
  }

  @Test func `there are as many orders as there are to test`() {
    // Without fetch and answer: 1 + 3 + 6 + 6. With them: the arrangements of 2 to 5 steps in which
    // the answer comes second.
    #expect(Self.orders.count == 16 + 1 + 3 * 3 + 3 * 12 + 60)
  }

  @Test(arguments: Backing.allCases)
  func `in whatever order cache, own sets and others come, the newest is shown`(
    backing: Backing
  ) async throws {
    for order in Self.orders {
      for listens in [false, true] {
        try await run(order, backing, listens)
      }
    }
  }

  private func run(_ order: [Step], _ backing: Backing, _ listens: Bool) async throws {
    switch backing {
    case .memory:
      let manager = DataModelManager()
      try await manager.updateModel(Interleaving.old).committed()
      try await Interleaving(manager, .memory, listens).run(order)
    case .cache:
      let cache = HandlerCache()
      let manager = DataModelManager(cacheDelegate: cache)
      try await Interleaving(manager, .cache, listens, cache: cache).run(order)
    case .store, .storeInMemory:
      try await withStore(backing) { store in
        try await store.write { try $0.set(Interleaving.old) }
        let manager = try DataModelManager(store: store)
        try await Interleaving(manager, backing, listens).run(order)
        await manager.close()
      }
    }
  }
}

/// One provider and what should become of it.
private final class Interleaving {
  static let old = Person(id: 1, name: "old")
  private static let set = Person(id: 1, name: "set")
  private static let updated = Person(id: 1, name: "updated")

  /// The expected state, step by step.
  private struct Expectation {
    var shown: Person?
    var stored: Person? = Interleaving.old
    var isAwaiting = false
    /// The answer of a custom cache: its value at the call; the outer `nil` if it is not called.
    var answer: Person??
    /// Whether something newer than the fetch is known, so that its answer is ignored.
    var isOvertaken = false
    var isDeletedSince = false
    var completion: Person??
    var calls = 0
  }

  private let manager: DataModelManager
  private let backing: Backing
  private let listens: Bool
  private let cache: HandlerCache?
  private let provider: DataProvider<Person>
  private let log = DelegateLog()
  private let completions = Completions<Person>()
  private var expected = Expectation()
  private var readersMayGo: Event?

  init(
    _ manager: DataModelManager, _ backing: Backing, _ listens: Bool, cache: HandlerCache? = nil
  ) {
    self.manager = manager
    self.backing = backing
    self.listens = listens
    self.cache = cache
    provider = DataProvider(dataModelManager: manager)
    provider.delegate = log
  }

  func run(_ order: [InterleavingTests.Step]) async throws {
    for step in order {
      switch step {
      case .fetch: await fetch()
      case .answer: await answer()
      case .set: set()
      case .update: update()
      case .delete: delete()
      }
      try await settle()
      #expect(provider.data == expected.shown, "\(step) in \(order), listens: \(listens)")
    }
    try await settle()
    let called = completions.calls.first.map { $0.model }
    #expect(called == expected.completion, "\(order), listens: \(listens)")
    #expect(completions.calls.count == (expected.completion == nil ? 0 : 1), "\(order)")
    #expect(log.calls.count == expected.calls, "\(order), listens: \(listens)")
  }

  /// Keeps all reader threads, so that a later load waits.
  private func occupyReaders(of store: ModelStore) {
    let event = Event()
    readersMayGo = event
    for _ in 0..<ModelStore.Configuration.forTests.readerThreadCount {
      store.readers.submit { event.wait() }
    }
  }

  /// Waits for everything but the loads, whose threads may be occupied.
  private func settle() async throws {
    if case .store(let bridge) = manager.backing {
      await bridge.passed()
      await manager.consistencyManager.processed()
      await manager.consistencyManager.delivered()
    } else {
      await manager.drain()
    }
  }

  private func fetch() async {
    if let shown = expected.shown {
      expected.completion = .some(shown)
    } else {
      expected.answer = .some(expected.stored)
      expected.isOvertaken = false
      expected.isDeletedSince = false
      if case .store(let bridge) = manager.backing { occupyReaders(of: bridge.store) }
    }
    provider.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: listens) {
      [completions] in completions.add($0, $1, shown: nil)
    }
    if expected.answer != nil { await cache?.waitUntilAsked("Person:1") }
    // Without store and cache the answer is there at once.
    if backing == .memory, let answer = expected.answer { finish(answer) }
  }

  private func answer() async {
    guard let answer = expected.answer else { return }
    if case .store = manager.backing {
      // Read only now: it sees all that is committed.
      finish(expected.stored)
      readersMayGo?.signal()
    } else {
      finish(expected.isDeletedSince ? nil : answer)
      cache?.answer("Person:1", answer)
    }
    _ = await completions.first()
  }

  /// The fetch has its answer.
  private func finish(_ found: Person?) {
    expected.answer = nil
    if expected.isOvertaken {
      expected.completion = .some(expected.shown)
      return
    }
    if found != nil { expected.shown = found }
    expected.isAwaiting = found == nil && (listens || expected.isAwaiting)
    expected.completion = .some(found)
  }

  private func set() {
    provider.setData(Self.set)
    expected.shown = Self.set
    expected.stored = Self.set
    expected.isOvertaken = true
    expected.isAwaiting = false
  }

  private func update() {
    manager.updateModel(Self.updated)
    expected.stored = Self.updated
    expected.isDeletedSince = false
    // A custom cache that has not answered: the change is newer than what it will say.
    let isAsked = backing == .cache && expected.answer != nil && !expected.isOvertaken
    guard expected.shown != nil || expected.isAwaiting || isAsked else { return }
    if expected.shown == nil {
      expected.isOvertaken = true
      expected.isAwaiting = false
    }
    expected.shown = Self.updated
    expected.calls += 1
  }

  private func delete() {
    manager.deleteModel(Self.old)
    expected.stored = nil
    expected.isDeletedSince = true
    guard expected.shown != nil else { return }
    expected.shown = nil
    expected.isAwaiting = true
    expected.calls += 1
  }
}
