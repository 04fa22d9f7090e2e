import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoProviders

/// The completion of a fetch has what is shown when it is called.
@Suite struct FetchCompletionTests {
  @Test(arguments: Backing.lasting)
  func `a completion delivers nothing older than what was set since`(
    backing: Backing
  ) async throws {
    let queue = DispatchQueue(label: "completions")
    try await backing.withManager(deliveringOn: .queue(queue)) { manager in
      let writer = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await writer.setData([Contact(1, "old")], cacheKey: "contacts").committed()
      try await manager.cacheModel(Contact(1, "old"), forKey: "Contact:1").committed()
      let (list, other) = (
        CollectionDataProvider<Contact>(dataModelManager: manager),
        CollectionDataProvider<Contact>(dataModelManager: manager)
      )
      let model = DataProvider<Contact>(dataModelManager: manager)
      let lists = Locked<[[Contact]?]>([])
      let models = Locked<[Contact?]>([])
      // A delivery that still runs would go on with the completions, suspended or not.
      await manager.drain()
      queue.sync {}
      queue.suspend()
      list.fetchDataFromCache(withCacheKey: "contacts") { found, _ in
        lists.withLock { $0.append(found) }
      }
      other.fetchDataFromCache(withCacheKey: "contacts") { found, _ in
        lists.withLock { $0.append(found) }
      }
      model.fetchDataFromCache(withCacheKey: "Contact:1") { found, _ in
        models.withLock { $0.append(found) }
      }
      while model.data == nil { await Task.yield() }
      while list.data.isEmpty || other.data.isEmpty { await Task.yield() }
      list.setData([Contact(2, "new")], cacheKey: "contacts")
      other.setData([Contact(3, "own")], cacheKey: "others")
      model.setData(Contact(1, "new"))
      queue.resume()
      await manager.drain()
      #expect(lists.withLock { $0 } == [[Contact(2, "new")], [Contact(3, "own")]])
      #expect(models.withLock { $0 } == [Contact(1, "new")])
    }
  }
}
