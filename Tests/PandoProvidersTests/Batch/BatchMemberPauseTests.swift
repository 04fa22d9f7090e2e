import PandoConsistency
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Members of a batch that have a pause of their own.
@Suite struct BatchMemberPauseTests {
  private final class BatchLog: BatchDataProviderListenerDelegate {
    struct Call: Sendable, Equatable {
      let members: [ObjectIdentifier]
      let context: String?

      init(_ members: [any AnyDataProvider], _ context: String?) {
        self.members = members.map { ObjectIdentifier($0) }
        self.context = context
      }
    }

    private let calls = Locked<[Call]>([])

    func take() -> [Call] { calls.withLock { calls in exchange(&calls, with: []) } }

    func batchDataProviderListenerHasUpdatedDataProviders(
      _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
      context: (any Sendable)?
    ) {
      let call = Call(dataProviders, context as? String)
      calls.withLock { $0.append(call) }
    }
  }

  @Test(arguments: Backing.allCases)
  func `a member paused by itself misses the batch's call, and has one of its own at its end`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let first = DataProvider<Person>(dataModelManager: manager)
      let second = DataProvider<Message>(dataModelManager: manager)
      let third = DataProvider<Person>(dataModelManager: manager)
      let ada = Person(id: 1, name: "Ada")
      first.setData(ada)
      second.setData(Message(id: 1, text: "", author: ada))
      third.setData(Person(id: 2, name: "Bob"))
      await manager.drain()
      let batch = BatchDataProviderListener(
        dataProviders: [first, second, third], dataModelManager: manager)
      let (log, batchLog) = (DelegateLog(), BatchLog())
      batch.delegate = batchLog
      first.delegate = log
      second.delegate = log
      first.isPaused = true
      manager.updateModel(Person(id: 1, name: "B"), context: "a")
      await manager.drain()
      #expect(log.calls.map(\.provider) == [ObjectIdentifier(second)])
      #expect(batchLog.take() == [BatchLog.Call([second], "a")])
      #expect(first.data == ada)
      first.isPaused = false
      await manager.drain()
      #expect(log.calls.map(\.provider) == [ObjectIdentifier(second), ObjectIdentifier(first)])
      #expect(log.contexts == ["a", "a"])
      #expect(batchLog.take() == [BatchLog.Call([first], "a")])
      #expect(first.data?.name == "B")
    }
  }

  @Test func `a pause of a member and one of its batch end each by itself`() async throws {
    let manager = DataModelManager()
    let first = DataProvider<Person>(dataModelManager: manager)
    let second = DataProvider<Person>(dataModelManager: manager)
    let batch = BatchDataProviderListener(
      dataProviders: [first, second], dataModelManager: manager)
    first.isPaused = true
    #expect(!batch.isPaused && !second.isPaused)
    batch.isPaused = true
    #expect(second.isPaused)
    batch.isPaused = false
    #expect(first.isPaused && !second.isPaused)
    batch.isPaused = true
    first.isPaused = false
    #expect(first.isPaused)
    batch.isPaused = false
    #expect(!first.isPaused && !second.isPaused)
  }
}
