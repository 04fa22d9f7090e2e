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
              case 1: manager.update(Message.self, "Message:1") { $0.text += "x" }
              case 2: author.update { $0.name += "." }
              case 3: manager.update(Person.self, "Person:1") { $0.name += "." }
              case 4: author.update { $0.isOnline = step.isMultiple(of: 2) }
              default: _ = try? await shown.update { $0.author.name += "." }.committed()
              }
            }
          }
        }
      }
      await manager.drain()
      _ = try await manager.update(Message.self, "Message:1") { $0.text += "!" }.committed()
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
  func `an update is told, and one that fails changes nothing`(backing: Backing) async throws {
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
      try await manager.update(Message.self, "Message:9") { $0.text = "" }.committed()
      await manager.drain()
      #expect(provider.data?.text == "new")
      #expect(log.data(Message.self).count == count)
      let empty = DataProvider<Message>(dataModelManager: manager)
      let error = empty.update { $0.text = "" }.error as? DataProviderError
      #expect(error?.code == .missingIdentifier)
    }
  }

  @Test(arguments: Backing.lasting)
  func `what nobody shows is updated where it is stored`(backing: Backing) async throws {
    try await backing.withManager { manager in
      try await manager.updateModel(message).committed()
      try await manager.update(Message.self, "Message:1") { $0.text = "late" }.committed()
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
      let stored = try store.read { try $0.model("Message:1", as: Message.self) }
      #expect(stored?.author.name == "Ada L.")
      #expect(stored?.text == "paused")
      provider.isPaused = false
      await manager.drain()
      #expect(provider.data == stored)
      await manager.close()
    }
  }
}
