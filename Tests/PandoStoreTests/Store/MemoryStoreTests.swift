import Foundation
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Behaviour of stores in memory only; suites with the trait `overBothBackings` test the rest.
@Suite struct MemoryStoreTests {
  private let ada = Person(id: 1, name: "Ada")

  private func names(_ store: ModelStore) throws -> [String?] {
    try store.read { snapshot in
      try snapshot.identifiers().map { try snapshot.get($0, as: Person.self)?.name }
    }
  }

  @Test func `two stores have nothing in common`() throws {
    let (first, second) = (try ModelStore.inMemory(), try ModelStore.inMemory())
    try first.write { try $0.set(Person(id: 1, name: "Ada")) }
    try second.write { try $0.set(Person(id: 1, name: "Bob")) }
    #expect(try names(first) == ["Ada"])
    #expect(try names(second) == ["Bob"])
    first.close()
    #expect(try names(second) == ["Bob"])
    second.close()
  }

  @Test func `errors name a store in memory where a path would stand`() async throws {
    let store = try ModelStore.inMemory(configuration: .forTests)
    #expect(store.path == "in memory")
    try await store.write { [ada] in try $0.set(ada) }
    #expect {
      try store.load { nil }
    } throws: {
      "\($0)".hasPrefix("in memory: the store is not new")
    }
    await store.close()
    #expect {
      try store.read { _ in }
    } throws: {
      "\($0)" == "in memory: the store has been closed"
    }
    #expect(throws: StoreError.self) { try store.write { _ in } }
    #expect(throws: StoreError.self) { try ModelStore.inMemory(copyOf: store) }
  }

  @Test func `a store in memory that may not be written to is refused`() throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.isReadOnly = true
    #expect {
      try ModelStore.inMemory(configuration: configuration)
    } throws: { error in
      (error as? StoreError)?.code == .readOnly && "\(error)".hasPrefix("in memory: ")
        && "\(error)".hasSuffix("open it without isReadOnly")
    }
  }

  @Test(arguments: Durability.allCases)
  func `a durability means nothing in memory, and none comes into a copy`(durability: Durability)
    throws
  {
    try withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = durability
      let store = try ModelStore.inMemory(configuration: configuration)
      try store.write { [ada] in try $0.set(ada) }
      #expect(try store.statistics().formatVersion == 6)
      try store.copy(to: "\(path)/copy")
      store.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/copy") == ["data.mdb"])
      let saved = try ModelStore(path: "\(path)/copy", configuration: configuration)
      defer { saved.close() }
      #expect(try names(saved) == ["Ada"])
      #expect(try saved.verify().problems == [])
    }
  }

  @Test(arguments: [Durability.unsynchronized, .relaxed()])
  func `a copy in memory begins with all of a store, and goes its own way`(
    durability: Durability
  ) throws {
    try withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = durability
      let stored = try ModelStore(path: path, configuration: configuration)
      for id in 0..<200 { try stored.write { try $0.set(Person(id: id, name: "\(id)")) } }
      try stored.write { try $0.append([Person(id: 1, name: "1")], toCollection: "list") }
      let last = try stored.statistics()
      let copy = try ModelStore.inMemory(copyOf: stored, configuration: configuration)
      let second = try ModelStore.inMemory(copyOf: copy)
      defer { second.close() }
      for store in [copy, second] {
        let statistics = try store.statistics()
        #expect(statistics.commitNumber == last.commitNumber)
        #expect(statistics.storeIdentifier == last.storeIdentifier)
        #expect(statistics.changeLogCount == last.changeLogCount)
        #expect(statistics.formatVersion == 6)
      }
      try copy.write { try $0.removeAll() }
      try second.write { try $0.set(Person(id: 7, name: "seven")) }
      #expect(try copy.read { try $0.count() } == 0)
      #expect(try stored.read { try $0.count() } == 200)
      #expect(try stored.read { try $0.get("Person:7", as: Person.self)?.name } == "7")
      copy.close()
      stored.close()
      #expect(try second.read { try $0.collectionCount("list") } == 1)
      #expect(try second.verify().problems == [])
      try second.write { try $0.deleteIfPresent("Person:1") }
      #expect(try second.verify().problems == [])
    }
  }

  @Test func `a dump fills a store in memory`() throws {
    let store = try ModelStore.inMemory(configuration: .forTests)
    for id in 0..<50 { try store.write { try $0.set(Person(id: id, name: "\(id)")) } }
    func lines(_ store: ModelStore) throws -> [String] {
      var lines: [String] = []
      try store.dump { lines.append($0) }
      return lines
    }
    let copy = try ModelStore.inMemory(configuration: .forTests)
    let source = LineSource(try lines(store))
    try copy.load { source.next() }
    #expect(try lines(copy) == lines(store))
    #expect(try copy.verify().problems == [])
  }

  @Test func `migrations run in a copy and leave the store as it is`() throws {
    let store = try ModelStore.inMemory(configuration: .forTests)
    try store.write { [ada] in try $0.set(ada) }
    var configuration = ModelStore.Configuration.forTests
    configuration.migrations = [
      Migration(typeName: "Person", version: 2) { $0["name"] = .string("Augusta") }
    ]
    let copy = try ModelStore.inMemory(copyOf: store, configuration: configuration)
    #expect(try names(copy) == ["Augusta"])
    #expect(try names(store) == ["Ada"])
  }

  @Test func `a damaged store gives no copy`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      defer { store.close() }
      for id in 0..<2_000 { try store.write { try $0.set(Person(id: id, name: "\(id)")) } }
      let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/data.mdb"))
      for page in 20..<60 {
        try file.seek(toOffset: UInt64(page) * 4096 + 10)
        try file.write(contentsOf: [UInt8](repeating: 0xFF, count: 6))
      }
      try file.close()
      #expect {
        try ModelStore.inMemory(copyOf: store)
      } throws: {
        ($0 as? StoreError)?.code == .damaged
      }
    }
  }

  @Test func `a store in memory makes no file anywhere`() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { path in
        // A folder of the name that stands in errors is a trap for what takes it for a path.
        for folder in ["in memory", "temporary"] {
          try FileManager.default.createDirectory(
            atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        precondition(chdir(path) == 0)
        setenv("TMPDIR", "\(path)/temporary", 1)
        @Sendable func check() throws {
          let found = try FileManager.default.subpathsOfDirectory(atPath: path)
          precondition(found.sorted() == ["in memory", "temporary"], "\(found)")
        }
        var configuration = ModelStore.Configuration.forTests
        configuration.migrations = [Migration(typeName: "Person", version: 2) { $0["a"] = .null }]
        configuration.migrationProgress = { _ in
          do { try check() } catch { preconditionFailure("\(error)") }
        }
        let store = try ModelStore.inMemory(configuration: .forTests)
        for id in 0..<100 { try store.write { try $0.set(Person(id: id, name: "\(id)")) } }
        let copy = try ModelStore.inMemory(copyOf: store, configuration: configuration)
        try copy.write { try $0.removeAll() }
        _ = try copy.verify()
        precondition(ModelStore.opened(at: "in memory") == nil)
        try check()
        copy.close()
        store.close()
        try check()
        precondition(chdir("/") == 0)
      }
    }
  }

  @Test func `many stores in memory have three files each, which go with the last reference`()
    async
  {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 1_024, rlim_max: 1_024)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      for _ in 0..<2 {
        var stores: [ModelStore] = []
        for number in 0..<300 {
          let store = try ModelStore.inMemory()
          try store.write { try $0.set(Person(id: number, name: "\(number)")) }
          stores.append(store)
        }
        precondition(openMemoryFiles().count == 900, "\(openMemoryFiles().count)")
        for (number, store) in stores.enumerated() {
          let found = try store.read { try $0.identifiers() }
          precondition(found == ["Person:\(number)"])
        }
        stores = []
        precondition(openMemoryFiles().isEmpty, "\(openMemoryFiles().count)")
      }
    }
  }
}
