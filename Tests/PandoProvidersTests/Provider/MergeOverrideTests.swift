import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// A `merge` of a model's own.
@Suite struct MergeOverrideTests {
  /// Keeps its age if a newer version says none.
  private struct Elder: Model, Codable, Equatable {
    var id: Int
    var age: Int?
    var modelIdentifier: String? { "Elder:\(id)" }

    func merge(_ other: any Model) -> any Model {
      guard var elder = other as? Elder else { return self }
      elder.age = elder.age ?? age
      return elder
    }
  }

  @Test(arguments: Backing.allCases)
  func `a newer version of the same type stands as it is, live and on disk`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let first = DataProvider<Elder>(dataModelManager: manager)
      let second = DataProvider<Elder>(dataModelManager: manager)
      try await first.setData(Elder(id: 1, age: 30)).committed()
      try await second.setData(Elder(id: 1, age: nil)).committed()
      await manager.drain()
      #expect(second.data == Elder(id: 1, age: nil))
      #expect(first.data == Elder(id: 1, age: nil))
    }
  }

  @Test func `the live value of a node is the stored one`() async throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.models = [Elder.self]
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let first = DataProvider<Elder>(dataModelManager: manager)
    let second = DataProvider<Elder>(dataModelManager: manager)
    try await first.setData(Elder(id: 1, age: 30)).committed()
    try await second.setData(Elder(id: 1, age: nil)).committed()
    await manager.drain()
    let stored = try await store.read { try $0.get("Elder:1", as: Elder.self) }
    #expect(stored == Elder(id: 1, age: nil))
    #expect(second.data == stored)
    #expect(first.data == stored)
    await manager.close()
    await store.close()
  }
}
