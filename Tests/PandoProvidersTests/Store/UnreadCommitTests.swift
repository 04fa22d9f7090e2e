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

  @Test func `a commit that can't be read is reported, and shown with the next one`() async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 4
    configuration.readerTimeoutInSeconds = 0
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

  @Test(arguments: [false, true])
  func `changes of an unread commit are not applied twice to a list`(deletes: Bool) async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 4
    configuration.readerTimeoutInSeconds = 0
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let people = (1...4).map { Person(id: $0, name: "\($0)") }
    // Somebody who shows a node as another type: then a snapshot is needed.
    let profile = DataProvider<FullProfile>(dataModelManager: manager)
    try await profile.setData(FullProfile(id: 1, name: "Ada", age: 36)).committed()
    let list = CollectionDataProvider<Person>(dataModelManager: manager)
    try await list.setData(people, cacheKey: "people").committed()
    try await withoutReaders(store, 4) {
      if deletes {
        try await manager.deleteModel(people[0]).committed()
      } else {
        try await list.insert([Person(id: 1, name: "Grace")], at: 2).committed()
        try await list.remove(at: 0).committed()
      }
      await manager.drain()
    }
    try await store.write { try $0.set(Person(id: 9, name: "Bob")) }
    await manager.drain()
    let stored = try await store.read { try $0.collection("people", as: Person.self) }
    #expect(stored?.count == (deletes ? 3 : 4))
    #expect(list.data == stored)
    await manager.close()
    await store.close()
  }

  @Test func `a value set in memory after an unread commit stays`() async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 4
    configuration.readerTimeoutInSeconds = 0
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let profile = DataProvider<FullProfile>(dataModelManager: manager)
    try await profile.setData(FullProfile(id: 1, name: "Ada", age: 36)).committed()
    let person = DataProvider<Person>(dataModelManager: manager)
    try await withoutReaders(store, 4) {
      try await person.setData(Person(id: 1, name: "stored")).committed()
      try await person.setData(Person(id: 1, name: "in memory"), updateCache: false).committed()
      await manager.drain()
    }
    try await store.write { try $0.set(Person(id: 9, name: "Bob")) }
    await manager.drain()
    #expect(person.data?.name == "in memory")
    #expect(profile.data?.name == "in memory")
    try await store.write { try $0.set(Person(id: 1, name: "newer")) }
    await manager.drain()
    #expect(person.data?.name == "newer")
    await manager.close()
    await store.close()
  }

  @Test(arguments: [0..<2, 2..<3])
  func `an element removed from a list by an unread commit is not stored any more`(
    removed: Range<Int>
  ) async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.maximumReaders = 4
    configuration.readerTimeoutInSeconds = 0
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let people = (1...4).map { Person(id: $0, name: "\($0)") }
    let profile = DataProvider<FullProfile>(dataModelManager: manager)
    try await profile.setData(FullProfile(id: 1, name: "Ada", age: 36)).committed()
    let list = CollectionDataProvider<Person>(dataModelManager: manager)
    try await list.setData(people, cacheKey: "people").committed()
    try await withoutReaders(store, 4) {
      try await list.append([Person(id: 1, name: "Grace")]).committed()
      try await store.write { try $0.removeElements(in: removed, fromCollection: "people") }
      try await manager.deleteModel(people[2]).committed()
      try await store.write { try $0.removeElements(in: 0..<1, fromCollection: "people") }
      await manager.drain()
    }
    try await store.write { try $0.set(Person(id: 9, name: "Bob")) }
    await manager.drain()
    let stored = try await store.read { try $0.collection("people", as: Person.self) }
    #expect(stored?.map(\.id) == (removed.contains(2) ? [2, 4, 1] : [1]))
    #expect(list.data == stored)
    await manager.close()
    await store.close()
  }
}
