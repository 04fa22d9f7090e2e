import PandoFixtures
import PandoManagers
import PandoMetrics
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@Suite struct StoreMetricsTests {
  private struct Person: Model, Codable, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Person:\(id)" }
  }

  private struct Book: PersistentEntity {
    var id: EntityIdentifier<Book>
    var title: String
  }

  private func withStore(
    _ metrics: StoreMetrics, _ change: (inout ModelStore.Configuration) -> Void = { _ in },
    _ body: (ModelStore) async throws -> Void
  ) async throws {
    var configuration = ModelStore.Configuration()
    configuration.durability = .unsynchronized
    configuration.observer = metrics
    change(&configuration)
    let store = try ModelStore.temporary(configuration: configuration)
    try await body(store)
    await store.close()
  }

  private func value(_ name: String, _ metrics: StoreMetrics) -> Measurement.Value? {
    metrics.measurements().first { $0.name == name }?.value
  }

  private func histogram(_ name: String, _ metrics: StoreMetrics) -> Histogram? {
    guard case .histogram(let histogram)? = value(name, metrics) else { return nil }
    return histogram
  }

  @Test func `every write and flush counts`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      metrics.watch(store)
      await withTaskGroup { group in
        for id in 0..<100 {
          group.addTask { try? await store.write { try $0.set(Person(id: id, name: "\(id)")) } }
        }
      }
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) { try await store.write { _ in throw Refusal() } }
      #expect(value("pando_commits_total", metrics) == .counter(100))
      #expect(value("pando_failed_writes_total", metrics) == .counter(1))
      #expect(value("pando_nodes", metrics) == .gauge(100))
      #expect(value("pando_queued_writes", metrics) == .gauge(0))
      let durations = try #require(histogram("pando_flush_duration_seconds", metrics))
      let writes = try #require(histogram("pando_flush_writes", metrics))
      // The refused write had a flush of its own, in which nothing has changed.
      #expect(writes.count == store.counters.flushes - 1)
      #expect(durations.count == writes.count)
      #expect(writes.sum == 100)
    }
  }

  @Test func `events count by their name`() async throws {
    let metrics = StoreMetrics(store: "people")
    try await withStore(metrics, { $0.slowCommitThreshold = .zero }) { store in
      for id in 0..<3 { try await store.write { try $0.set(Person(id: id, name: "")) } }
      let slow = metrics.measurements().filter { $0.name == "pando_events_total" }
      #expect(slow.count == 1)
      #expect(slow.first?.labels == ["event": "slow_commit", "store": "people"])
      #expect(slow.first?.value == .counter(3))
    }
  }

  @Test func `views are counted, and their notifications are timed`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      let manager = try DataModelManager(store: store)
      metrics.watch(manager, name: "feed")
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.setData(Person(id: 1, name: "Ada")).committed()
      #expect(value("pando_live_views", metrics) == .gauge(1))
      // The last callback is behind the commit; this comes behind both.
      while histogram("pando_delivery_lag_seconds", metrics)?.count == 0 { await Task.yield() }
      let figure = metrics.measurements().first { $0.name == "pando_delivery_lag_seconds" }
      #expect(figure?.labels == ["manager": "feed"])
      withExtendedLifetime(provider) {}
      await manager.close()
    }
  }

  @Test func `writes that wait for their commit are counted`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      metrics.watch(store)
      let gate = Monitor((isEntered: false, isOpen: false))
      let first = Task {
        try await store.write { _ in
          gate.withLock { $0.isEntered = true }
          gate.notifyAll()
          gate.waiting { $0.isOpen ? () : nil }
        }
      }
      await blocking { gate.waiting { $0.isEntered ? () : nil } }
      let second = Task { try await store.write { try $0.set(Person(id: 1, name: "Ada")) } }
      while store.queuedWriteCount < 2 { await Task.yield() }
      #expect(value("pando_queued_writes", metrics) == .gauge(2))
      gate.withLock { $0.isOpen = true }
      gate.notifyAll()
      try await first.value
      try await second.value
      #expect(store.queuedWriteCount == 0)
    }
  }

  @Test func `reads from memory and from the disk count apart`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      let container = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .store(store))
      metrics.watch(container)
      let books = container[Book.self]
      let book = Book(id: .remote("7"), title: "Dune")
      _ = try await books.set(book)
      let before = books.cacheCounters
      for _ in 0..<3 { _ = try await books.get(byID: .remote("7")) }
      let after = books.cacheCounters
      #expect(after.hits + after.misses == before.hits + before.misses + 3)
      #expect(after.misses <= before.misses + 1)
      #expect(value("pando_cache_hits_total", metrics) == .counter(after.hits))
      #expect(value("pando_cache_misses_total", metrics) == .counter(after.misses))
      await container.close()
    }
  }

  @Test func `closed stores and released managers are left out`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      metrics.watch(store)
      try await useManager(store, metrics)
      // Whoever has carried out its last work lets go of it a moment later.
      while value("pando_live_views", metrics) != nil { await Task.yield() }
    }
    #expect(value("pando_nodes", metrics) == nil)
    #expect(!metrics.measurements().isEmpty)
  }

  @Test func `of one name there is one figure`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      let other = try ModelStore.temporary()
      let managers = try [DataModelManager(store: store), DataModelManager(store: other)]
      for manager in managers { metrics.watch(manager) }
      metrics.watch(other)
      metrics.watch(store)
      let names = metrics.measurements().map { "\($0.name) \($0.labels)" }
      #expect(Set(names).count == names.count)
      for manager in managers { await manager.close() }
      await other.close()
    }
  }

  private func useManager(_ store: ModelStore, _ metrics: StoreMetrics) async throws {
    let manager = try DataModelManager(store: store)
    metrics.watch(manager)
    #expect(value("pando_live_views", metrics) == .gauge(0))
    await manager.close()
  }

  @Test func `figures of a service's own stand beside`() {
    let metrics = StoreMetrics()
    metrics.add { [Measurement("inbox_messages", "Messages.", .gauge(12))] }
    #expect(value("inbox_messages", metrics) == .gauge(12))
  }

  @Test func `names are those that Prometheus takes, and end with their unit`() async throws {
    let metrics = StoreMetrics()
    try await withStore(metrics) { store in
      let manager = try DataModelManager(store: store)
      metrics.watch(store)
      metrics.watch(manager)
      for figure in metrics.measurements() {
        let name = figure.name
        #expect(name.hasPrefix("pando_"))
        #expect(name.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 })
        #expect(!figure.help.isEmpty)
        if case .counter = figure.value { #expect(name.hasSuffix("_total")) }
        if name.contains("size") { #expect(name.hasSuffix("_bytes")) }
        if name.contains("lag") || name.contains("duration") { #expect(name.hasSuffix("_seconds")) }
      }
      await manager.close()
    }
  }
}
