import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// A commit that concerns nobody is shown without waking another thread, and one that may concern somebody is
/// not missed.
@Suite struct PassingCommitTests {
  /// Notes on which threads it is asked, and is concerned by nothing.
  private final class Bystander: StorePipelineMember {
    private let threads = Locked<Set<UInt>>([])

    func wasAsked(on thread: UInt) -> Bool { threads.withLock { $0.contains(thread) } }

    func plan(for write: CommitEffects) -> CommitPlan {
      threads.withLock { _ = $0.insert(currentThread()) }
      return .nothing
    }

    func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? { nil }
    func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? { nil }
    func finish(_ write: CommitEffects) {}
    func fail(_ write: CommitEffects, _ error: any Error) {}
    func showsList(_ cacheKey: ByteString) -> Bool { false }
    func showUnread(_ write: CommitEffects) {}
    func failRead(_ error: any Error) {}
  }

  @Test func `the writer itself shows a commit that affects no view`() async throws {
    try await withStore { store in
      let line = try StorePipeline.pipeline(of: store)
      let bystander = Bystander()
      line.add(bystander)
      let writer = Locked<UInt>(0)
      // Not each time: the pipeline may not rest yet.
      for number in 0..<1_000 where !bystander.wasAsked(on: writer.withLock { $0 }) {
        try await store.write { transaction in
          writer.withLock { $0 = currentThread() }
          try transaction.set(Contact(number))
        }
      }
      #expect(bystander.wasAsked(on: writer.withLock { $0 }))
      let changes = try await store.commit { try $0.set(Contact(-1)) }.changeSet
      #expect(line.shown == changes?.commitNumber.value)
    }
  }

  @Test(arguments: [1, 4])
  func `providers that begin beside writes show what is stored`(taskCount: Int) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let count = 400
      try await store.write { transaction in
        for number in 0..<count { try transaction.set(Contact(number, "old")) }
      }
      let providers = (0..<count).map { _ in DataProvider<Contact>(dataModelManager: manager) }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          for (number, provider) in providers.enumerated() {
            provider.fetchDataFromCache(withCacheKey: Contact(number).modelIdentifier) { _, _ in }
          }
        }
        for task in 0..<taskCount {
          group.addTask {
            for number in stride(from: task, to: count, by: taskCount) {
              _ = try? store.write { try $0.set(Contact(number, "new")) }
            }
          }
        }
      }
      await manager.drain()
      #expect(providers.map { $0.data?.name } == Array(repeating: "new", count: count))
      await manager.close()
    }
  }
}
