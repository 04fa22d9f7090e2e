import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Closed managers and stores are freed.
@Suite struct ClosedLifetimeTests {
  private final class Held {
    weak var manager: DataModelManager?
    weak var store: ModelStore?
  }

  /// A provider that goes while its last set is on its way.
  private func useOnce(_ held: Held) async throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let manager = try DataModelManager(store: store)
    held.manager = manager
    held.store = store
    do {
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.setData(Person(id: 1, name: "Ada"))
    }
    await manager.close()
    await store.close()
  }

  @Test func `a closed manager and a closed store are freed`() async throws {
    let rounds = (0..<60).map { _ in Held() }
    for held in rounds { try await useOnce(held) }
    // A round more, so that no thread is still at work for the others.
    try await useOnce(Held())
    let managers = rounds.count { $0.manager != nil }
    let stores = rounds.count { $0.store != nil }
    #expect(managers == 0)
    #expect(stores == 0)
  }
}
