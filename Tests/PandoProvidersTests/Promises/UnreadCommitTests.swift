import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// Commits that can't be read when they are to be shown.
@Suite struct UnreadCommitTests {
  private final class Events: DataModelManagerDelegate {
    private let failures = Locked<[String]>([])
    var failedReads: [String] { failures.withLock { $0 } }

    func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
      if case .failedRead(let error, _) = event { failures.withLock { $0.append("\(error)") } }
    }
  }

  /// Takes reader slots until there is none, and gives them back.
  private func withoutReaders(
    _ store: ModelStore, _ count: Int, _ body: () async throws -> Void
  ) async throws {
    let readers = (0..<count).map { _ in (isIn: Event(), isOver: Event(), hasLeft: Event()) }
    for reader in readers {
      startThread(named: "reader") {
        // One that finds no slot leaves none to others either.
        try? store.read { _ in
          reader.isIn.signal()
          reader.isOver.wait()
        }
        reader.isIn.signal()
        reader.hasLeft.signal()
      }
    }
    for reader in readers { reader.isIn.wait() }
    do {
      try await body()
    } catch {
      for reader in readers { reader.isOver.signal() }
      throw error
    }
    for reader in readers {
      reader.isOver.signal()
      reader.hasLeft.wait()
    }
  }

  @Test func `what can't be read is reported, and shown with the next commit`() async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 4
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let events = Events()
    manager.delegate = events
    let profile = DataProvider<FullProfile>(dataModelManager: manager)
    try await profile.setData(FullProfile(id: 1, name: "Ada", age: 36)).committed()
    let person = DataProvider<Person>(dataModelManager: manager)
    try await withoutReaders(store, 4) {
      try await person.setData(Person(id: 1, name: "Grace")).committed()
      await manager.drain()
      // What the provider has set itself it shows, and holds on to nothing.
      #expect(person.data?.name == "Grace")
      #expect(!events.failedReads.isEmpty)
    }
    try await blocking {
      try store.write { try $0.set(Person(id: 2, name: "Bob")) }
    }
    await manager.drain()
    #expect(profile.data == FullProfile(id: 1, name: "Grace", age: 36))
    #expect(person.data?.name == "Grace")
    await manager.close()
    await store.close()
  }
}
