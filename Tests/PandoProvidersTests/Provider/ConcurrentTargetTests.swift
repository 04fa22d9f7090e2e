import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Delegates are called one after another, on a concurrent queue too.
@Suite struct ConcurrentTargetTests {
  private final class Teller: CollectionDataProviderDelegate {
    let calls = Locked(0)
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void = {}) { self.action = action }

    func collectionDataProviderHasUpdatedData<T>(
      _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
      context: (any Sendable)?
    ) {
      calls.withLock { $0 += 1 }
      action()
    }
  }

  @Test(arguments: [false, true])
  func `an edit on the queue calls no delegate during another call`(ofDelivery: Bool) async throws {
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let manager = DataModelManager(deliveringOn: .queue(queue))
    func lists(_ cacheKey: String, _ id: Int) async throws -> [CollectionDataProvider<Contact>] {
      let lists = (0..<2).map { _ in CollectionDataProvider<Contact>(dataModelManager: manager) }
      try await lists[0].setData(Contact.list(id), cacheKey: cacheKey).committed()
      try await lists[1].fetchDataFromCache(withCacheKey: cacheKey)
      return lists
    }
    let (slow, quick) = (try await lists("slow", 1), try await lists("quick", 2))
    await manager.drain()
    let (isCalled, mayReturn) = (Event(), Event())
    let first = Teller {
      isCalled.signal()
      mayReturn.wait()
    }
    let second = Teller()
    slow[1].delegate = first
    quick[1].delegate = second
    if ofDelivery {
      manager.updateModel(Contact(1, "newer"))
    } else {
      queue.async { slow[0].append([Contact(3)]) }
    }
    await onThread { isCalled.wait() }
    // Others may use the queue meanwhile.
    let callsMeanwhile = await onThread {
      queue.sync { () -> Int in
        quick[0].append([Contact(4)])
        return second.calls.withLock { $0 }
      }
    }
    #expect(callsMeanwhile == 0)
    mayReturn.signal()
    await manager.drain()
    #expect(first.calls.withLock { $0 } == 1)
    #expect(second.calls.withLock { $0 } == 1)
    await manager.close()
  }

  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result
  {
    await withCheckedContinuation { continuation in
      startThread(named: "test") { continuation.resume(returning: body()) }
    }
  }
}
