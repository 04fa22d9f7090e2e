import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Changes of models as they are when their turn comes.
@Suite struct ProviderUpdateTests {
  private struct Refused: Error {}

  private let ada = Person(id: 1, name: "Ada")

  private let message = Message(id: 1, text: "", author: Person(id: 1, name: "Ada"))

  @Test(arguments: Backing.allCases)
  func `no update of many tasks is lost, awaited or not`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let shown = DataProvider<Message>(dataModelManager: manager)
      let author = DataProvider<Person>(dataModelManager: manager)
      shown.setData(message)
      author.setData(ada)
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<6 {
          group.addTask {
            for step in 0..<30 {
              switch worker {
              case 0: shown.update { $0.text += "x" }
              case 1: manager.updateIfPresent(Message.self, "Message:1") { $0.text += "x" }
              case 2: author.update { $0.name += "." }
              case 3: manager.updateIfPresent(Person.self, "Person:1") { $0.name += "." }
              case 4: author.update { $0.isOnline = step.isMultiple(of: 2) }
              default: _ = try? await shown.update { $0.author.name += "." }.committed()
              }
            }
          }
        }
      }
      await manager.drain()
      _ = try await manager.updateIfPresent(Message.self, "Message:1") { $0.text += "!" }
        .committed()
      await manager.drain()
      #expect(shown.data?.text.filter { $0 == "x" }.count == 60)
      #expect(shown.data?.author.name.filter { $0 == "." }.count == 90)
      #expect(author.data == shown.data?.author)
      #expect(author.data?.isOnline == false)
      if backing != .memory {
        let again = DataProvider<Message>(dataModelManager: manager)
        try await again.fetchDataFromCache(withCacheKey: "Message:1")
        #expect(again.data == shown.data)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func `an update is reported, and a failed one changes nothing`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Message>(dataModelManager: manager)
      let log = DelegateLog()
      provider.delegate = log
      provider.setData(message)
      try await provider.update(context: "c") { $0.text = "new" }.committed()
      await manager.drain()
      #expect(provider.data?.text == "new")
      #expect(log.data(Message.self).last??.text == "new")
      let count = log.data(Message.self).count
      await #expect(throws: Refused.self) {
        try await provider.update {
          $0.text = "never"
          throw Refused()
        }.committed()
      }
      await #expect(throws: (any Error).self) {
        try await provider.update { $0.id = 2 }.committed()
      }
      try await manager.updateIfPresent(Message.self, "Message:9") { $0.text = "" }.committed()
      await manager.drain()
      #expect(provider.data?.text == "new")
      #expect(log.data(Message.self).count == count)
      let empty = DataProvider<Message>(dataModelManager: manager)
      let error = empty.update { $0.text = "" }.error as? DataProviderError
      #expect(error?.code == .missingIdentifier)
    }
  }

  @Test(arguments: Backing.allCases)
  func `an edit sets the changed fields only, not the others that it carries`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Message>(dataModelManager: manager)
      let author = DataProvider<Person>(dataModelManager: manager)
      let bob = Person(id: 2, name: "Bob")
      provider.setData(Message(id: 1, text: "a", author: ada, reader: bob))
      author.setData(ada)
      let shown = try #require(provider.data)
      // Others, without anybody waiting.
      author.setData(Person(id: 1, name: "Ada L."))
      manager.deleteModel(withIdentifier: "Person:2")
      var edited = shown
      edited.text = "b"
      provider.setData(edited, replacing: shown)
      edited.author.isOnline = true
      try await manager.updateModel(edited, replacing: shown).committed()
      await manager.drain()
      let expected = Message(
        id: 1, text: "b", author: Person(id: 1, name: "Ada L.", isOnline: true))
      #expect(provider.data == expected)
      #expect(author.data == expected.author)
      if backing != .memory {
        let again = DataProvider<Message>(dataModelManager: manager)
        try await again.fetchDataFromCache(withCacheKey: "Message:1")
        #expect(again.data == expected)
      }
      manager.deleteModel(withIdentifier: "Message:1")
      await #expect(throws: DataProviderError.self) {
        try await manager.updateModel(shown, replacing: shown).committed()
      }
      let other = Message(id: 2, text: "", author: ada)
      let error = provider.setData(other, replacing: shown).error as? DataProviderError
      #expect(error?.code == .wrongKey)
    }
  }

  @Test(arguments: Backing.allCases)
  func `of a node that stands twice the changed place counts`(backing: Backing) async throws {
    // Was: without a store the last place did, and the change was lost.
    try await backing.withManager { manager in
      let provider = DataProvider<Message>(dataModelManager: manager)
      provider.setData(Message(id: 1, text: "", author: ada, reader: ada))
      for _ in 0..<3 { provider.update { $0.author.name += "." } }
      manager.updateIfPresent(Message.self, "Message:1") { $0.author.name += "!" }
      await manager.drain()
      #expect(provider.data?.author.name == "Ada...!")
      #expect(provider.data?.reader?.name == "Ada...!")
    }
  }

  @Test(arguments: Backing.lasting)
  func `changes of a model that no provider shows keep their order`(backing: Backing) async throws {
    // Was: over a cache each asked for the model by itself, and they came in any order.
    try await backing.withManager { manager in
      for round in 0..<20 {
        try await manager.updateModel(Person(id: round, name: "")).committed()
        for step in 0..<8 {
          manager.updateIfPresent(Person.self, "Person:\(round)") { $0.name += "\(step)" }
        }
        await manager.drain()
        let provider = DataProvider<Person>(dataModelManager: manager)
        try await provider.fetchDataFromCache(withCacheKey: "Person:\(round)")
        #expect(provider.data?.name == "01234567")
        manager.updateIfPresent(Person.self, "Person:\(round)") { $0.name = "a" }
        provider.update { $0.name = "b" }
        await manager.drain()
        #expect(provider.data?.name == "b")
      }
    }
  }

  @Test func `a node that was changed and comes in elsewhere keeps the change`() async throws {
    // Was: where others had taken it out of the tree meanwhile, it came in as it was stored.
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let bob = Person(id: 2, name: "Bob")
      let read = Message(id: 1, text: "", author: ada, reader: bob)
      try await manager.updateModel(read).committed()
      try await store.updateIfPresent(Message.self, "Message:1") { $0.reader = nil }
      let edited = Message(id: 1, text: "", author: Person(id: 2, name: "Robert"), reader: bob)
      try await manager.updateModel(edited, replacing: read).committed()
      let stored = try await store.read { try $0.get("Message:1", as: Message.self) }
      #expect(stored?.author.name == "Robert")
      #expect(stored?.reader == nil)
      await manager.close()
    }
  }

  @Test(arguments: Backing.lasting)
  func `a model that no provider shows is updated where stored`(backing: Backing) async throws {
    try await backing.withManager { manager in
      try await manager.updateModel(message).committed()
      try await manager.updateIfPresent(Message.self, "Message:1") { $0.text = "late" }.committed()
      let provider = DataProvider<Message>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "Message:1")
      #expect(provider.data?.text == "late")
    }
  }

  @Test func `a provider that shows an old child leaves it as it is stored`() async throws {
    // Was: there was no other way than to set the whole tree, and Ada had her old name again.
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Message>(dataModelManager: manager)
      try await provider.setData(message).committed()
      provider.isPaused = true
      try await store.write { try $0.set(Person(id: 1, name: "Ada L.")) }
      #expect(provider.data?.author.name == "Ada")
      try await provider.update { $0.text = "paused" }.committed()
      let stored = try await store.read { try $0.get("Message:1", as: Message.self) }
      #expect(stored?.author.name == "Ada L.")
      #expect(stored?.text == "paused")
      provider.isPaused = false
      await manager.drain()
      #expect(provider.data == stored)
      await manager.close()
    }
  }

  @Test func `several lists and models change in one commit and one step`() async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let people = [1, 2, 3].map { Person(id: $0, name: "P\($0)") }
      let open = CollectionDataProvider<Person>(dataModelManager: manager)
      let done = CollectionDataProvider<Person>(dataModelManager: manager)
      open.setData(people, cacheKey: "open")
      try await done.setData([Person(id: 4, name: "P4")], cacheKey: "done").committed()
      let number = try await store.read { try $0.commitNumber.value }
      let places = try await manager.write(context: "moved") { transaction in
        try transaction.moveElement("Person:2", fromCollection: "open", toCollection: "done", at: 0)
        try transaction.moveElement("Person:3", fromCollection: "open", toCollection: "open", at: 0)
        try transaction.updateIfPresent(Person.self, "Person:2") { $0.name = "moved" }
        return try transaction.snapshot.indexes(of: "Person:2", inCollection: "done")
      }
      #expect(places == [0])
      #expect(try await store.read { try $0.commitNumber.value } == number + 1)
      #expect(open.data.map(\.name) == ["P3", "P1"])
      #expect(done.data.map(\.name) == ["moved", "P4"])
      let count = try await manager.write { transaction in
        try transaction.append([Person(id: 4, name: "P4")], toCollection: "done")
        return try transaction.removeElements("Person:4", fromCollection: "done")
      }
      #expect(count == 2)
      #expect(done.data.map(\.name) == ["moved"])
      #expect(
        try await manager.write {
          try $0.moveElement("Person:9", fromCollection: "open", toCollection: "done")
        } == false)
      await #expect(throws: StoreError.self) {
        try await manager.write { _ = try $0.removeElements("Person:1", fromCollection: "none") }
      }
      await #expect(throws: StoreError.self) {
        try await manager.write {
          try $0.moveElement("Person:1", fromCollection: "open", toCollection: "done", at: 7)
        }
      }
      #expect(open.data.map(\.name) == ["P3", "P1"])
      #expect(try store.verify().problems == [])
      await manager.close()
    }
    let memory = DataModelManager()
    await #expect(throws: DataProviderError.self) { try await memory.write { _ in } }
  }

  private struct Desk: Model, Codable, Equatable, DeletionRuled {
    static let modelTypeName = "Desk"
    var person: Person
    var modelIdentifier: String? { "desk" }
    static let deletionRules: [DeletionRule] = [.restrict("person")]
  }

  @Test func `nodes that are deleted together restrict one another in no order`() async throws {
    // Was: refused where what is held came first.
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      try await manager.updateModel(Desk(person: ada)).committed()
      await #expect(throws: StoreError.self) {
        try await manager.deleteModel(ada).committed()
      }
      try await manager.deleteModels(withIdentifiers: ["Person:1", "desk"]).committed()
      #expect(try await store.read { try $0.count() } == 0)
      await manager.close()
    }
  }

  @Test(arguments: Backing.allCases)
  func `nodes are deleted by their identifiers`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let provider = DataProvider<Message>(dataModelManager: manager)
      provider.setData(Message(id: 1, text: "", author: ada, reader: Person(id: 2, name: "Bob")))
      manager.deleteModel(withIdentifier: "Person:2")
      await manager.drain()
      #expect(provider.data?.reader == nil)
      #expect(provider.data?.author == ada)
      manager.deleteModels(withIdentifiers: ["Person:7", "Person:1"])
      await manager.drain()
      #expect(provider.data == nil)
      let error = manager.deleteModel(withIdentifier: "").error as? DataProviderError
      #expect(error?.code == .emptyIdentifier)
    }
  }
}
