import PandoConsistency
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoProviders
@testable import PandoStore

/// Commits of other processes.
@Suite struct OtherProcessTests {
  private let ada = Person(id: 1, name: "Ada")

  private func withStores(
    changeLogLimit: Int = 1000, follows: Bool = false,
    _ body: (String, ModelStore) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      configuration.durability = .unsynchronized
      configuration.changeLogLimit = changeLogLimit
      configuration.followsOtherProcesses = follows
      let store = try ModelStore(path: path, configuration: configuration)
      try await body(path, store)
      await store.close()
    }
  }

  @Test func `a commit is shown at the next write, fetch or refresh`() async throws {
    try await withStores { path, store in
      let manager = try DataModelManager(store: store)
      let other = try OtherProcess(path)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(ada)
      await manager.drain()
      try other.perform("set 1 B")
      #expect(provider.data == ada)
      try await manager.refresh()
      #expect(provider.data?.name == "B")
      try other.perform("set 1 C")
      try other.perform("set 3 Cy")
      let fetched = DataProvider<Person>(dataModelManager: manager)
      let found = try await fetched.fetchDataFromCache(withCacheKey: "Person:3")
      #expect(found?.name == "Cy")
      #expect(provider.data?.name == "C")
      try other.perform("delete 1")
      fetched.setData(Person(id: 4, name: "Di"))
      await manager.drain()
      #expect(provider.data == nil)
      try other.perform("set 1 E")
      try await store.write { try $0.set(Person(id: 5, name: "Ed")) }
      await manager.drain()
      #expect(provider.data?.name == "E")
      #expect(log.calls.count == 4)
      other.end()
      await manager.close()
    }
  }

  @Test func `where the change log has expired, everything live is read again`() async throws {
    try await withStores(changeLogLimit: 2) { path, store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let doomed = DataProvider<Person>(dataModelManager: manager)
      provider.setData(ada)
      doomed.setData(Person(id: 2, name: "Bob"))
      await manager.drain()
      let other = try OtherProcess(path)
      for line in ["set 1 B", "delete 2", "set 8 X", "set 9 Y", "set 7 Z", "set 6 W"] {
        try other.perform(line)
      }
      // Was: only refreshed. The other process keeps more of the log, so nothing had expired.
      try await store.write { try $0.set(Person(id: 5, name: "Eve")) }
      await manager.drain()
      expectExpired(store)
      #expect(provider.data?.name == "B")
      #expect(doomed.data == nil)
      other.end()
      await manager.close()
    }
  }

  /// An own edit of a list that another process has changed.
  enum OwnEdit: CaseIterable {
    case moveInPlace, updateUnchanged, moveAway, append
  }

  @Test(arguments: OwnEdit.allCases)
  func `a list that others have changed shows their change beside an own edit`(edit: OwnEdit)
    async throws
  {
    try await withStores { path, store in
      let manager = try DataModelManager(store: store)
      let people = [ada, Person(id: 2, name: "Bob")]
      let list = ListFollower<Person>(manager)
      try await list.provider.setData(people, cacheKey: "people").committed()
      let other = try OtherProcess(path)
      try other.perform("set 3 Cy")
      try await manager.refresh()
      try other.perform("append 3 people")
      let write =
        switch edit {
        case .moveInPlace: list.provider.move(from: 1, to: 1)
        case .updateUnchanged: list.provider.update(ada, at: 0)
        case .moveAway: list.provider.move(from: 0, to: 1)
        case .append: list.provider.append([ada])
        }
      try await write.committed()
      await manager.drain()
      let stored = try await store.read { try $0.collection("people", as: Person.self) }
      #expect(list.provider.data == stored)
      #expect(list.provider.data.contains { $0.name == "Cy" })
      other.end()
      await manager.close()
    }
  }

  private func expectExpired(_ store: ModelStore) {
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.changes(since: CommitNumber(value: 2)) }
    }
    #expect(error?.code == .changesExpired)
  }

  @Test func `over a store that is open for reading only, it is shown after a refresh or fetch`()
    async throws
  {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      configuration.durability = .unsynchronized
      await (try ModelStore(path: path, configuration: configuration)).close()
      configuration.isReadOnly = true
      configuration.followsOtherProcesses = false
      let store = try ModelStore(path: path, configuration: configuration)
      let manager = try DataModelManager(store: store)
      let events = EventLog()
      manager.delegate = events
      let other = try OtherProcess(path)
      try other.perform("set 1 Ada")
      let provider = DataProvider<Person>(dataModelManager: manager)
      let awaiting = DataProvider<Person>(dataModelManager: manager)
      awaiting.listen(to: "Person:2")
      let found = try await provider.fetchDataFromCache(withCacheKey: "Person:1")
      #expect(found == ada)
      try other.perform("set 1 B")
      try other.perform("set 2 Bob")
      try await manager.refresh()
      #expect(provider.data?.name == "B")
      #expect(awaiting.data?.name == "Bob")
      let write = provider.setData(ada)
      await #expect(throws: StoreError.self) { try await write.committed() }
      #expect(provider.data?.name == "B")
      provider.setData(Person(id: 1, name: "C"), updateCache: false)
      await manager.drain()
      #expect(provider.data?.name == "C")
      #expect(events.failedWrites == [["Person:1"]])
      other.end()
      await store.close()
    }
  }

  @Test func `a process far behind gets exact positions in the shown lists`() async throws {
    try await withStores(changeLogLimit: 5000) { path, store in
      let manager = try DataModelManager(store: store)
      let other = try OtherProcess(path)
      let list = ListFollower<Person>(manager)
      try await list.provider.setData([ada], cacheKey: "people").committed()
      _ = list.takeChanges()
      for line in [
        "set 3 Cy", "append 3 people", "append 1 hidden", "rename 1 1500", "append 3 hidden",
        "append 1 people",
      ] {
        try other.perform(line)
      }
      try await manager.refresh()
      await manager.drain()
      #expect(list.provider.data.map(\.name) == ["C1499", "Cy", "C1499"])
      let changes = list.takeChanges()
      #expect(changes.count == 1)
      guard case .changes(let steps)? = changes.first else {
        Issue.record("told \(changes)")
        return
      }
      #expect(Set(steps) == [.insert(index: 1), .insert(index: 2), .update(index: 0)])
      #expect(store.counters.othersCommits == 1505)
      other.end()
      await manager.close()
    }
  }

  /// A write of this process that the store contains already.
  enum EmptyWrite: CaseIterable {
    case delete, set, setByProvider, edit
  }

  @Test(arguments: EmptyWrite.allCases, [false, true])
  func `a write that changed nothing takes nothing of what others committed after it`(
    write: EmptyWrite, isTogether: Bool
  ) async throws {
    try await withStores { path, store in
      let manager = try DataModelManager(store: store)
      let line = try StorePipeline.pipeline(of: store)
      let other = try OtherProcess(path)
      let list = ListFollower<Person>(manager)
      try await list.provider.setData([Person(id: 2, name: "Bob")], cacheKey: "people").committed()
      let seen = DataProvider<Person>(dataModelManager: manager)
      let log = DelegateLog()
      seen.delegate = log
      let setting = DataProvider<Person>(dataModelManager: manager)
      if write != .delete { try other.perform("set 1 Ada") }
      try await seen.fetchDataFromCache(withCacheKey: "Person:1", listensWhenAbsent: true)
      #expect(seen.data == (write == .delete ? nil : ada))

      // What others commit is shown before this process shows that its write is over.
      let held = Event()
      manager.enqueue { held.wait() }
      if !isTogether { line.enqueue { #expect(throws: Never.self) { try line.catchUp() } } }
      let pending =
        switch write {
        case .delete: manager.deleteModel(ada)
        case .set: manager.updateModel(ada)
        case .setByProvider: setting.setData(ada)
        case .edit: list.provider.move(from: 0, to: 0)
        }
      try await blocking { try store.write { _ in } }
      try other.perform("set 1 Cy")
      try other.perform("append 1 people")
      held.signal()
      try await pending.committed()
      try await manager.refresh()
      await manager.drain()
      #expect(seen.data?.name == "Cy")
      #expect(log.data(Person.self).last??.name == "Cy")
      if write == .setByProvider { #expect(setting.data?.name == "Cy") }
      #expect(list.provider.data.map(\.name) == ["Bob", "Cy"])
      other.end()
      await manager.close()
    }
  }

  // MARK: Without being asked

  @Test func `providers show commits of other processes without a call`() async throws {
    try await withStores(follows: true) { path, store in
      let manager = try DataModelManager(store: store)
      let other = try OtherProcess(path)
      let provider = DataProvider<Person>(dataModelManager: manager)
      let list = CollectionDataProvider<Person>(dataModelManager: manager)
      try await provider.setData(ada).committed()
      try await list.setData([ada], cacheKey: "people").committed()
      var models = provider.values.makeAsyncIterator()
      var lists = list.changes.makeAsyncIterator()
      _ = try await models.next()
      _ = try await lists.next()
      for number in 0..<100 {
        try other.perform("set 1 B\(number)")
        while try await models.next()??.name != "B\(number)" {}
      }
      try other.perform("set 2 Bob")
      try other.perform("append 2 people")
      while let change = try await lists.next(), change.data.count < 2 {}
      #expect(list.data.map(\.name) == ["B99", "Bob"])
      try other.perform("delete 1")
      while try await models.next() != .some(nil) {}
      #expect(provider.data == nil)
      #expect(store.counters.othersCommits == 103)
      #expect(store.counters.lastDelayOfOthers != nil)
      #expect(store.counters.reloads == 0)
      other.end()
      await manager.close()
    }
  }

  @Test func `commits of others wake the thread that watches, those of this process do not`()
    async throws
  {
    try await withStores(follows: true) { path, store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      for number in 0..<100 {
        try await provider.setData(Person(id: 1, name: "A\(number)")).committed()
      }
      #expect(store.counters.wakes == 0)
      let other = try OtherProcess(path)
      var models = provider.values.makeAsyncIterator()
      var number = 0
      // It may be awake when one comes.
      while store.counters.wakes == 0 {
        number += 1
        try other.perform("set 1 B\(number)")
        while try await models.next()??.name != "B\(number)" {}
      }
      other.end()
      await manager.close()
    }
  }

  @Test func `a commit is shown while another process holds the writer's lock`() async throws {
    try await withStores(follows: true) { path, store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.setData(ada).committed()
      var models = provider.values.makeAsyncIterator()
      _ = try await models.next()
      let (other, holder) = (try OtherProcess(path), try OtherProcess(path))
      // Nothing is shown until the lock is held.
      let held = Event()
      manager.enqueue { held.wait() }
      try other.perform("set 1 B")
      try holder.perform("hold")
      held.signal()
      while try await models.next()??.name != "B" {}
      // It has been held all the time.
      try holder.perform("let go")
      other.end()
      holder.end()
      await manager.close()
    }
  }

  @Test func `a store that is open for reading only shows it too, and reloads what it has missed`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let other = try OtherProcess(path)
      try other.perform("set 1 Ada")
      let events = Locked<[Int]>([])
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      configuration.isReadOnly = true
      configuration.followsOtherProcesses = true
      configuration.events = { event in
        if case .reloaded(let count) = event { events.withLock { $0.append(count) } }
      }
      let store = try ModelStore(path: path, configuration: configuration)
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "Person:1")
      var models = provider.values.makeAsyncIterator()
      _ = try await models.next()
      try other.perform("set 1 B")
      while try await models.next()??.name != "B" {}
      // Its change log keeps 10 000 commits.
      let held = Event()
      manager.enqueue { held.wait() }
      try other.perform("rename 1 10100")
      held.signal()
      while try await models.next()??.name != "C10099" {}
      #expect(events.withLock { $0.count } == 1)
      #expect(store.counters.reloads == 1)
      other.end()
      await store.close()
    }
  }

  @Test func `a look that came before an own commit was brought is made again behind it`()
    async throws
  {
    try await withStores { path, store in
      let manager = try DataModelManager(store: store)
      let line = try StorePipeline.pipeline(of: store)
      let provider = DataProvider<Person>(dataModelManager: manager)
      try await provider.setData(ada).committed()
      await manager.drain()
      // Until the writer itself shows what concerns nobody.
      for id in 10..<40 { try await store.write { try $0.set(Person(id: id, name: "")) } }
      await manager.drain()
      try await store.write { try $0.set(Person(id: 40, name: "")) }
      let other = try OtherProcess(path)
      let shown = line.shown
      // The first stands for a write of this process that concerns nobody.
      try other.perform("set 9 X")
      store.feed.announce(shown + 1...shown + 1)
      try other.perform("set 1 B")
      line.othersMayHaveCommitted()
      let own = try await #require(
        try store.read { try $0.changes(since: CommitNumber(value: shown)) }.first)
      store.feed.handOver([CommitEffects(own, ticket: nil, commitValue: own.commitNumber.value)])
      // Was: nothing looked again, until somebody committed something or a second had passed.
      await settle(line)
      #expect(line.shown == shown + 2)
      #expect(provider.data?.name == "B")
      other.end()
      await manager.close()
    }
  }

  /// Waits until all is carried out that is queued, and what that has queued.
  private func settle(_ line: StorePipeline) async {
    for _ in 0..<2 {
      let isDone = Event()
      line.enqueue { isDone.signal() }
      await isDone.happened()
    }
    while !line.pipeline.rests { await Task.yield() }
  }

  @Test func `the watching thread keeps no pipeline alive`() async throws {
    try await withStores(follows: true) { _, store in
      var manager: DataModelManager? = try DataModelManager(store: store)
      weak let line = try StorePipeline.pipeline(of: store)
      #expect(line != nil)
      await manager?.close()
      manager = nil
      while line != nil { await Task.yield() }
      #expect(!store.feed.othersMayHaveCommitted())
      // And the next one is told again.
      let next = try DataModelManager(store: store)
      let other = try OtherProcess(store.path)
      let provider = DataProvider<Person>(dataModelManager: next)
      try await provider.setData(ada).committed()
      var models = provider.values.makeAsyncIterator()
      try other.perform("set 1 B")
      while try await models.next()??.name != "B" {}
      other.end()
      await next.close()
    }
  }

  @Test func `a new follower reads nothing that was committed before`() async throws {
    try await withTemporaryDirectory { path in
      let other = try OtherProcess(path)
      // More than its change log keeps.
      try other.perform("rename 1 10100")
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 64 << 20
      configuration.durability = .unsynchronized
      configuration.followsOtherProcesses = true
      // Was: in some of these, the first look at what others commit came before it was known what is shown.
      for number in 0..<200 {
        let store = try ModelStore(path: path, configuration: configuration)
        let manager = try DataModelManager(store: store)
        let provider = DataProvider<Person>(dataModelManager: manager)
        try await provider.fetchDataFromCache(withCacheKey: "Person:1")
        var models = provider.values.makeAsyncIterator()
        try other.perform("set 1 B\(number)")
        while try await models.next()??.name != "B\(number)" {}
        #expect(store.counters.othersCommits <= 1)
        #expect(store.counters.reloads == 0)
        await manager.close()
        await store.close()
      }
      other.end()
    }
  }
}
