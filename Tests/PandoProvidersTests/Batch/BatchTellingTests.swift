import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// Of an update first the members are told, then their batch once, in the order of the commits.
@Suite struct BatchTellingTests {
  enum Queue: CaseIterable, Sendable {
    case own, given

    var target: DeliveryTarget {
      self == .own ? .ownQueue : .queue(DispatchQueue(label: "telling"))
    }
  }

  private enum Call: Equatable {
    case tree(Int)
    case list(Int)
    case batch([ObjectIdentifier], Int)
  }

  private final class Log: BatchDataProviderListenerDelegate, DataProviderDelegate,
    CollectionDataProviderDelegate
  {
    private let log = Locked<[Call]>([])

    var calls: [Call] { log.withLock { $0 } }

    private func note(_ call: Call) { log.withLock { $0.append(call) } }

    func batchDataProviderListenerHasUpdatedDataProviders(
      _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
      context: (any Sendable)?
    ) {
      note(.batch(dataProviders.map { ObjectIdentifier($0) }, context as? Int ?? -1))
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?) {
      note(.tree(context as? Int ?? -1))
    }

    func collectionDataProviderHasUpdatedData<T>(
      _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
      context: (any Sendable)?
    ) {
      note(.list(context as? Int ?? -1))
    }
  }

  /// The calls for quick updates of a tree and a list in one batch, and its two members.
  private func calls(
    _ backing: Backing, _ queue: Queue, _ updateCount: Int
  ) async throws -> (calls: [Call], members: [ObjectIdentifier]) {
    let target = queue.target
    guard backing.hasStore else {
      return try await calls(DataModelManager(deliveringOn: target), updateCount)
    }
    return try await withStore(backing) { store in
      let manager = try DataModelManager(store: store, deliveringOn: target)
      let result = try await calls(manager, updateCount)
      await manager.close()
      return result
    }
  }

  private func calls(
    _ manager: DataModelManager, _ updateCount: Int
  ) async throws -> (calls: [Call], members: [ObjectIdentifier]) {
    let log = Log()
    let tree = DataProvider<Contact>(dataModelManager: manager)
    let list = CollectionDataProvider<Contact>(dataModelManager: manager)
    try await tree.setData(Contact(1)).committed()
    try await list.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
    let batch = BatchDataProviderListener(dataProviders: [tree, list], dataModelManager: manager)
    await manager.drain()
    batch.delegate = log
    tree.delegate = log
    list.delegate = log
    for number in 0..<updateCount {
      manager.updateModels(
        [Contact(1, "\(number)"), Contact(2, "\(number)")], context: number)
    }
    await manager.drain()
    return (log.calls, [ObjectIdentifier(tree), ObjectIdentifier(list)])
  }

  @Test(arguments: [Backing.memory, .store, .storeInMemory], Queue.allCases)
  func `a batch is called once per update, with all members that changed`(
    backing: Backing, queue: Queue
  ) async throws {
    let (calls, members) = try await calls(backing, queue, steps(1_200))
    let batched = calls.filter { if case .batch = $0 { true } else { false } }
    let expected = (0..<steps(1_200)).map { Call.batch(members, $0) }
    let (isRight, count) = (batched == expected, batched.count)
    let partial = batched.count {
      if case .batch(let told, _) = $0 { told.count < 2 } else { false }
    }
    #expect(isRight, "\(count) calls, \(partial) of them with one member")
  }

  @Test(arguments: [Backing.memory, .store, .storeInMemory], Queue.allCases)
  func `members are called in the order of the commits, and the batch after them`(
    backing: Backing, queue: Queue
  ) async throws {
    let (calls, members) = try await calls(backing, queue, steps(500))
    let expected = (0..<steps(500)).flatMap { number in
      [Call.tree(number), .list(number), .batch(members, number)]
    }
    let wrong = zip(calls, expected).count { $0 != $1 }
    let isRight = calls == expected
    #expect(isRight, "\(calls.count) calls, \(wrong) of them not where they should be")
  }
}
