import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// Random calls from several threads, compared with a naive reference at quiet points.
@Suite struct ProviderModelTests {
  @Test(arguments: seeds(6))
  func `live and stored trees are what a naive reference says, over a store`(
    seed: UInt64
  ) async throws {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let other = try DataModelManager(store: store)
      let run = ProviderRun(seed: seed, managers: [manager, other])
      store.setCommitHandler { [history = run.history] changeSet in
        if let number = changeSet.context as? Int { history.withLock { $0.append(number) } }
      }
      for _ in 0..<4 {
        try await run.perform()
        let reference = run.makeReference()
        run.compare(with: reference)
        try await store.read { snapshot in
          for id in 0..<ProviderRun.idCount {
            let person =
              try snapshot.contains("Person:\(id)")
              ? try? snapshot.get("Person:\(id)", as: Person.self) : nil
            #expect(person == reference.person(id), "seed \(seed), Person:\(id)")
            let message = try snapshot.get("Message:\(id)", as: Message.self)
            #expect(message == reference.message(id), "seed \(seed), Message:\(id)")
          }
        }
      }
      await manager.close()
      await other.close()
    }
  }

  @Test(arguments: seeds(6))
  func `live trees are what a naive reference says, in memory`(seed: UInt64) async throws {
    let manager = DataModelManager()
    let run = ProviderRun(seed: seed, managers: [manager])
    let listener = HistoryListener(run.history)
    manager.consistencyManager.addUpdatesListener(listener)
    for _ in 0..<4 {
      try await run.perform()
      run.compare(with: run.makeReference())
    }
    withExtendedLifetime(listener) {}
  }
}

/// Remembers the order of all updates.
private final class HistoryListener: ConsistencyManagerUpdatesListener {
  private let history: Locked<[Int]>

  init(_ history: Locked<[Int]>) { self.history = history }

  func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate
  ) {
    if let number = update.context as? Int { history.withLock { $0.append(number) } }
  }
}
