import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// Several commits that are shown in one step, because the first of them has to be read.
@Suite struct GroupTests {
  private typealias People = DataProvider<Person>

  /// Makes changes while the pipeline stands still; a merge of fields comes first, which no model says.
  private func inOneGroup(
    _ manager: DataModelManager, _ store: ModelStore, _ changes: () throws -> Void
  ) async throws {
    let read = People(dataModelManager: manager)
    try await read.setData(Person(id: 9, name: "first")).committed()
    let gate = Gate(stopping: manager)
    try store.writeAndWait { try $0.merge(Person(id: 9, name: "merged")) }
    try changes()
    // Behind all of them in the writer's queue, so they are all committed.
    try store.writeAndWait { _ in }
    gate.open()
    await manager.drain()
    #expect(read.data?.name == "merged")
  }

  private func withManager(
    _ body: (DataModelManager, ModelStore) async throws -> Void
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      try await body(manager, store)
      await manager.close()
    }
  }

  @Test func `a set node that a later commit deletes is not shown until it is set again`()
    async throws
  {
    try await withManager { manager, store in
      let provider = People(dataModelManager: manager)
      try await inOneGroup(manager, store) {
        provider.setData(Person(id: 1, name: "Ada"))
        try store.writeAndWait { _ = try $0.deleteIfPresent("Person:1") }
      }
      #expect(provider.data == nil)
      try await store.write { try $0.set(Person(id: 1, name: "again")) }
      #expect(provider.data?.name == "again")
    }
  }

  @Test func `a node deleted and stored as another type is lost for views of the first`()
    async throws
  {
    try await withManager { manager, store in
      let profile = DataProvider<FullProfile>(dataModelManager: manager)
      try await profile.setData(FullProfile(id: 1, name: "Ada", age: 36)).committed()
      try await inOneGroup(manager, store) {
        try store.writeAndWait { _ = try $0.deleteIfPresent("Person:1") }
        try store.writeAndWait { try $0.set(Person(id: 1, name: "Ada")) }
      }
      #expect(profile.data == nil)
    }
  }

  @Test(arguments: [true, false])
  func `of a change in memory and a commit the later one is shown`(isMemoryLast: Bool) async throws
  {
    try await withManager { manager, store in
      let provider = People(dataModelManager: manager)
      try await provider.setData(Person(id: 1, name: "old")).committed()
      try await inOneGroup(manager, store) {
        let memory = Person(id: 1, name: "memory")
        let inMemory = { _ = manager.updateModel(memory, updateCache: false) }
        if !isMemoryLast { inMemory() }
        try store.writeAndWait { try $0.set(Person(id: 1, name: "stored")) }
        if isMemoryLast {
          inMemory()
          // A place behind the last commit belongs to no group: one more commit takes it in.
          try store.writeAndWait { try $0.set(Person(id: 2, name: "other")) }
        }
      }
      #expect(provider.data?.name == (isMemoryLast ? "memory" : "stored"))
    }
  }

  @Test func `an own tree shows its child as a later commit has left it`() async throws {
    try await withManager { manager, store in
      let message = DataProvider<Message>(dataModelManager: manager)
      let author = Person(id: 1, name: "old")
      try await inOneGroup(manager, store) {
        message.setData(Message(id: 1, text: "text", author: author, reader: nil))
        try store.writeAndWait { try $0.set(Person(id: 1, name: "new")) }
      }
      #expect(message.data?.author.name == "new")
    }
  }

  @Test func `a provider that was cleared and set again shows what was set last`() async throws {
    try await withManager { manager, store in
      let provider = People(dataModelManager: manager)
      try await inOneGroup(manager, store) {
        provider.setData(Person(id: 1, name: "first"))
        provider.setData(nil)
        provider.setData(Person(id: 2, name: "second"))
      }
      #expect(provider.data?.name == "second")
      try await store.write { try $0.set(Person(id: 2, name: "newer")) }
      #expect(provider.data?.name == "newer")
    }
  }
}

extension ModelStore {
  /// The blocking form, which does not wait for live trees.
  fileprivate func writeAndWait(
    _ body: @Sendable (inout ModelTransaction) throws -> Void
  ) throws { try write(body) }
}
