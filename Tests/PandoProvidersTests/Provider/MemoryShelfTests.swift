import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// A value committed in memory alone can be fetched, whether or not a provider shows it.
@Suite struct MemoryShelfTests {
  private let manager = DataModelManager()

  private func contact(_ id: Int) async throws -> Contact? {
    try await DataProvider<Contact>(dataModelManager: manager)
      .fetchDataFromCache(withCacheKey: "Contact:\(id)")
  }

  private func list(_ cacheKey: String) async throws -> [Contact]? {
    try await CollectionDataProvider<Contact>(dataModelManager: manager)
      .fetchDataFromCache(withCacheKey: cacheKey)
  }

  @Test func `a model is there after its provider, and as it was changed since`() async throws {
    try await DataProvider<Contact>(dataModelManager: manager).setData(Contact(1)).committed()
    #expect(try await contact(1) == Contact(1))
    try await manager.updateModel(Contact(1, "changed")).committed()
    #expect(try await contact(1) == Contact(1, "changed"))
    #expect(try await manager.modelFromCache("Contact:1") == Contact(1, "changed"))
    try await manager.updateModel(Contact(2)).committed()
    try await manager.cacheModel(Contact(3), forKey: "Contact:3").committed()
    #expect(try await contact(2) == Contact(2))
    #expect(try await contact(3) == Contact(3))
    try await manager.deleteModel(Contact(1)).committed()
    #expect(try await contact(1) == nil)
    #expect(try await contact(4) == nil)
  }

  @Test func `a node that is only shown is not kept`() async throws {
    do {
      let provider = DataProvider<Contact>(dataModelManager: manager)
      try await provider.setData(Contact(1), updateCache: false).committed()
    }
    await manager.drain()
    #expect(try await contact(1) == nil)
  }

  @Test func `a list is there after its providers, and follows its elements`() async throws {
    do {
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "shown").committed()
    }
    #expect(try await list("shown") == Contact.list(1, 2))
    try await manager.updateModel(Contact(2, "changed")).committed()
    #expect(try await list("shown") == [Contact(1), Contact(2, "changed")])
    #expect(try await contact(1) == Contact(1))
    try await manager.deleteModel(Contact(1)).committed()
    #expect(try await list("shown") == [Contact(2, "changed")])
    #expect(try await manager.collectionFromCache("shown") == [Contact(2, "changed")])
    #expect(try await list("absent") == nil)
  }

  @Test func `a list that no provider shows is edited by static calls`() async throws {
    typealias List = CollectionDataProvider<Contact>
    try await List.append([Contact(1)], cacheKey: "list", dataModelManager: manager).committed()
    try await List.append([Contact(2)], cacheKey: "list", dataModelManager: manager).committed()
    #expect(try await list("list") == Contact.list(1, 2))
    try await List.insert(
      [Contact(3)], at: 0, cacheKey: "list", dataModelManager: manager
    ).committed()
    #expect(try await list("list") == Contact.list(3, 1, 2))
    let error = await #expect(throws: DataProviderError.self) {
      try await List.insert(
        [Contact(4)], at: 0, cacheKey: "absent", dataModelManager: manager
      ).committed()
    }
    #expect(error?.code == .noSuchCollection)
    #expect(try await contact(4) == nil)
  }

  @Test func `a version that comes in with a list changes the others of it`() async throws {
    typealias List = CollectionDataProvider<Contact>
    let newer = Contact(1, "newer")
    try await List.append([Contact(1)], cacheKey: "list", dataModelManager: manager).committed()
    try await List.append([newer], cacheKey: "list", dataModelManager: manager).committed()
    #expect(try await list("list") == [newer, newer])
  }

  @Test func `a version that is shown only changes all that memory keeps, and adds nothing`()
    async throws
  {
    try await manager.updateModel(Contact(1)).committed()
    let shown = CollectionDataProvider<Contact>(dataModelManager: manager)
    try await shown.setData(Contact.list(1), cacheKey: "list").committed()
    try await manager.updateModel(Contact(1, "shown"), updateCache: false).committed()
    try await manager.updateModel(Contact(2), updateCache: false).committed()
    #expect(shown.data == [Contact(1, "shown")])
    #expect(try await contact(1) == Contact(1, "shown"))
    #expect(try await contact(2) == nil)
  }

  @Test func `quick comings and goings of providers lose no edit`() async throws {
    typealias List = CollectionDataProvider<Contact>
    try await List.setData([], cacheKey: "list", dataModelManager: manager).committed()
    for round in 0..<200 {
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          let contact = Contact(round * 4 + task)
          group.addTask {
            let provider = List(dataModelManager: manager)
            provider.fetchDataFromCache(withCacheKey: "list") { _, _ in }
            if task % 2 == 0 {
              try await List.append([contact], cacheKey: "list", dataModelManager: manager)
                .committed()
            } else {
              try await List.insert([contact], at: 0, cacheKey: "list", dataModelManager: manager)
                .committed()
            }
          }
        }
        try await group.waitForAll()
      }
    }
    await manager.drain()
    let ids = try await list("list")?.map(\.id).sorted()
    #expect(ids == Array(0..<800))
  }

  @Test func `a manager that goes leaves nothing behind`() async throws {
    weak var gone: DataModelManager?
    do {
      let manager = DataModelManager()
      gone = manager
      try await manager.updateModel(Contact(1)).committed()
      await manager.drain()
    }
    #expect(gone == nil)
  }
}
