import PandoConsistency
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// A commit that affects no view is shown without waking another thread, and one that may affect a view is not
/// missed.
@Suite struct PassingCommitTests {
  /// Records on which threads it plans and stages, with one plan for all writes.
  private final class Bystander: StorePipelineMember {
    private let plan: CommitPlan
    private let planning = Locked<Set<UInt>>([])
    private let staging = Locked<Set<UInt>>([])

    init(_ plan: CommitPlan) { self.plan = plan }

    func hasPlanned(on thread: UInt) -> Bool { planning.withLock { $0.contains(thread) } }
    func hasStaged(on thread: UInt) -> Bool { staging.withLock { $0.contains(thread) } }

    func plan(for write: CommitEffects) -> CommitPlan {
      planning.withLock { _ = $0.insert(currentThread()) }
      return plan
    }

    func isConcerned(by writes: [CommitEffects]) -> Bool {
      writes.contains { if case .nothing = plan(for: $0) { false } else { true } }
    }

    func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? {
      staging.withLock { _ = $0.insert(currentThread()) }
      return nil
    }
    func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? { nil }
    func finish(_ write: CommitEffects) {}
    func fail(_ write: CommitEffects, _ error: any Error) {}
    func showsList(_ cacheKey: ByteString) -> Bool { false }
    func showUnread(_ write: CommitEffects) {}
    func failRead(_ error: any Error) {}
  }

  private func withWrites(
    _ plan: CommitPlan, until isEnough: (Bystander, UInt) -> Bool,
    check: (Bystander, UInt) -> Void
  ) async throws {
    try await withStore { store in
      let line = try StorePipeline.pipeline(of: store)
      let bystander = Bystander(plan)
      line.add(bystander)
      let writer = Locked<UInt>(0)
      // Not each time: the pipeline may not rest yet.
      for number in 0..<1_000 where !isEnough(bystander, writer.withLock { $0 }) {
        try await store.write { transaction in
          writer.withLock { $0 = currentThread() }
          try transaction.set(Contact(number))
        }
      }
      check(bystander, writer.withLock { $0 })
      let changes = try await store.commit { try $0.set(Contact(-1)) }.changeSet
      #expect(line.shown == changes?.commitNumber.value)
    }
  }

  @Test func `the writer itself shows a commit that affects no view`() async throws {
    try await withWrites(.nothing, until: { $0.hasPlanned(on: $1) }) {
      #expect($0.hasPlanned(on: $1) && !$0.hasStaged(on: $1))
    }
  }

  @Test func `the writer itself shows a commit that means little work`() async throws {
    try await withWrites(.showAtOnce(0), until: { $0.hasStaged(on: $1) }) {
      #expect($0.hasStaged(on: $1))
    }
  }

  @Test func `the pipeline shows a commit that may mean much work`() async throws {
    try await withWrites(.show(0), until: { $0.hasPlanned(on: $1) }) {
      #expect($0.hasPlanned(on: $1) && !$0.hasStaged(on: $1))
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
