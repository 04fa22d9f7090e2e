import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// The hook in place of a method that one could override.
@Suite struct ModelUpdatedTests {
  private let ada = Person(id: 1, name: "Ada")
  private let grace = Person(id: 1, name: "Grace")

  @Test(arguments: Backing.allCases)
  func `the hook is called whenever the delegate is, before it, with data and context`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let order = Locked<[String]>([])
      let log = DelegateLog { order.withLock { $0.append("delegate") } }
      let provider = DataProvider<Person>(dataModelManager: manager)
      #expect(provider.modelUpdated == nil)
      provider.delegate = log
      provider.modelUpdated = { model, context in
        let context = context as? String ?? ""
        order.withLock { $0.append("\(model?.name ?? "nil") \(context)") }
      }
      #expect(provider.modelUpdated != nil)
      provider.setData(ada, context: "own")
      await manager.drain()
      #expect(order.withLock { $0 } == [])
      manager.updateModel(grace, context: "update")
      await manager.drain()
      manager.updateModel(grace, context: "equal")
      await manager.drain()
      manager.deleteModel(grace, context: "delete")
      await manager.drain()
      #expect(order.withLock { $0 } == ["Grace update", "delegate", "nil delete", "delegate"])
      provider.modelUpdated = nil
      manager.updateModel(ada)
      await manager.drain()
      #expect(order.withLock { $0.count } == 5)
      #expect(log.calls.count == 3)
    }
  }

  @Test(arguments: Backing.allCases)
  func `the hook needs no delegate, and is silent during a pause`(backing: Backing) async throws {
    try await backing.withManager { manager in
      let names = Locked<[String?]>([])
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.modelUpdated = { model, _ in names.withLock { $0.append(model?.name) } }
      provider.setData(ada)
      await manager.drain()
      provider.isPaused = true
      manager.updateModel(grace)
      manager.updateModel(Person(id: 1, name: "Joan"))
      await manager.drain()
      #expect(names.withLock { $0 } == [])
      provider.isPaused = false
      await manager.drain()
      #expect(names.withLock { $0 } == ["Joan"])
    }
  }

  @Test func `objects that the hook holds are released with the provider`() {
    final class Kept: Sendable {}
    let manager = DataModelManager()
    weak var kept: Kept?
    do {
      let object = Kept()
      let provider = DataProvider<Person>(dataModelManager: manager)
      provider.modelUpdated = { _, _ in withExtendedLifetime(object) {} }
      kept = object
      withExtendedLifetime(provider) {}
    }
    #expect(kept == nil)
  }
}
