import PandoFixtures
import PandoModels
import PandoProviders
import PandoRecords
import PandoStore
import Testing

/// Trees of many levels of nodes that are shown live.
@Suite struct DeepTreeTests {
  private let limit = RecordLimits.maximumNodeDepth

  @Test(arguments: Backing.allCases)
  func `two chains that meet are shown as one tree`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let top = DataProvider<Deep>(dataModelManager: manager)
      let middle = DataProvider<Deep>(dataModelManager: manager)
      try await top.setData(Deep.chain(0..<60)).committed()
      try await middle.setData(Deep.chain(59..<90)).committed()
      await manager.drain()
      #expect(top.data?.identifiers == Deep.chain(0..<90).identifiers)
    }
  }

  @Test(arguments: Backing.allCases, Deep.Slot.allCases)
  func `the deepest of a thousand nodes is changed and deleted`(
    backing: Backing, slot: Deep.Slot
  ) async throws {
    // In a required slot every second node is a shell.
    let count = slot == .required ? 500 : 1_000
    let last = "\(count - 1)"
    try await backing.withManager { manager in
      let top = DataProvider<Deep>(dataModelManager: manager)
      let deepest = DataProvider<Deep>(dataModelManager: manager)
      try await top.setData(Deep.chain(0..<count, slot)).committed()
      try await deepest.setData(Deep(last, "changed")).committed()
      await manager.drain()
      #expect(top.data?.identifiers == Deep.chain(0..<count, slot).identifiers)
      #expect(top.data?.deepestText == "changed")
      if backing.hasStore {
        let read = DataProvider<Deep>(dataModelManager: manager)
        let found = try await read.fetchDataFromCache(withCacheKey: "0")
        #expect(found?.deepestText == "changed")
      }
      try await manager.deleteModel(Deep(last)).committed()
      await manager.drain()
      #expect(top.data?.identifiers == Deep.chain(0..<count - 1, slot).identifiers)
      #expect(deepest.data == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func `a list shows what changes deep in its elements`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let list = CollectionDataProvider<Deep>(dataModelManager: manager)
      let deepest = DataProvider<Deep>(dataModelManager: manager)
      try await list.setData([Deep.chain(0..<1_000)], cacheKey: "list").committed()
      try await deepest.setData(Deep("999", "changed")).committed()
      await manager.drain()
      #expect(list.data.map(\.deepestText) == ["changed"])
    }
  }

  @Test(arguments: Backing.allCases)
  func `no live tree grows beyond the limit`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let top = DataProvider<Deep>(dataModelManager: manager)
      let lower = DataProvider<Deep>(dataModelManager: manager)
      try await top.setData(Deep.chain(0..<limit)).committed()
      let change = lower.setData(Deep.chain(limit - 1..<limit + 1))
      if backing.hasStore {
        await #expect(throws: ModelError.self) { try await change.committed() }
      } else {
        try await change.committed()
      }
      await manager.drain()
      #expect(top.data?.identifiers == Deep.chain(0..<limit).identifiers)
      // What fits is shown.
      try await lower.setData(Deep("\(limit - 1)", "fits")).committed()
      await manager.drain()
      #expect(top.data?.deepestText == "fits")
    }
  }
}
