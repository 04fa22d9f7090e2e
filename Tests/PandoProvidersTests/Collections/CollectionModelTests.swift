import Foundation
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// Random calls of one task that waits for none of them, against a list that knows the rules.
@Suite struct CollectionModelTests {
  private typealias Contacts = CollectionDataProvider<Contact>

  @Test(arguments: Backing.allCases, [true, false])
  func `the shown list, the stored list and the notifications match the calls`(
    backing: Backing, isHeld: Bool
  ) async throws {
    for seed in seeds(8) {
      try await run(backing, Run(isHeld: isHeld, name: "\(backing), \(isHeld), seed \(seed)"), seed)
    }
  }

  private func run(_ backing: Backing, _ run: Run, _ seed: UInt64) async throws {
    var run = run
    run.random = SeededGenerator(seed: seed)
    switch backing {
    case .memory:
      let manager = DataModelManager()
      try await run.perform(manager, { Gate(stopping: manager) }, stored: nil)
    case .cache:
      let cache = ListCache()
      let manager = DataModelManager(cacheDelegate: cache)
      try await run.perform(manager, { Gate(stopping: manager) }, stored: { cache["c"] })
    case .store, .storeInMemory:
      try await withStore(backing) { store in
        let manager = try DataModelManager(store: store)
        try await run.perform(manager, { Gate(stopping: store) }) {
          try store.read { try $0.collection("c", as: Contact.self) }
        }
        await manager.close()
      }
    }
  }

  /// One sequence of calls.
  private struct Run {
    /// Whether nothing is committed before the last call of a round.
    ///
    /// Else all is written: what is shown only depends on when the others are committed.
    let isHeld: Bool
    let name: String
    var random = SeededGenerator(seed: 0)
    var model = NaiveList()

    init(isHeld: Bool, name: String) {
      self.isHeld = isHeld
      self.name = name
    }

    mutating func perform(
      _ manager: DataModelManager, _ makeGate: () -> Gate, stored: (() throws -> [Contact]?)?
    ) async throws {
      let providers = (0..<2).map { _ in ListReplica(manager) }
      let watcher = ListReplica(manager)
      model.set([], [], isWritten: true)
      providers[0].provider.setData([], cacheKey: "c")
      for replica in providers + [watcher] {
        try await replica.provider.fetchDataFromCache(withCacheKey: "c")
      }
      await manager.drain()
      model.settle()
      for round in 0..<6 {
        watcher.check("\(name), round \(round)")
        let gate = isHeld ? makeGate() : nil
        for _ in 0..<Int.random(in: 1..<9, using: &random) {
          change(manager, providers[Int.random(in: 0..<2, using: &random)].provider)
          if Int.random(in: 0..<8, using: &random) == 0 { await Task.yield() }
        }
        if stored != nil, let id = model.freshID() {
          // A cache has new contents when it is given the list the next time.
          model.insert([], Contact(id), at: nil, isWritten: true)
          providers[0].provider.append([Contact(id)])
        }
        gate?.open()
        await manager.drain()
        model.settle()
        for replica in providers + [watcher] {
          try #require(
            replica.provider.data == model.shown.map(\.contact), "\(name), round \(round)")
        }
        watcher.check("\(name), round \(round), as it was told")
        guard let stored else { continue }
        let list = try stored() ?? []
        try #require(list == model.stored.map(\.contact), "\(name), round \(round)")
      }
    }

    private mutating func change(_ manager: DataModelManager, _ provider: Contacts) {
      // Nothing is published between what the caller sees and its call.
      manager.snapshot { _ in
        let data = provider.data
        if !isHeld { model.expect(data) }
        let isWritten = !isHeld || manager.isMemoryOnly || pick(4) > 0
        if !change(provider, data, isWritten) { change(manager, isWritten) }
      }
    }

    private mutating func pick(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    /// Changes the list; `false` if it is not the list's turn.
    private mutating func change(
      _ provider: Contacts, _ data: [Contact], _ isWritten: Bool
    ) -> Bool {
      let name = "\(pick(1000))"
      switch pick(16) {
      case 0:
        var ids = data.map(\.id).filter { _ in pick(2) == 0 }.shuffled(using: &random)
        if let id = model.freshID() { ids.insert(id, at: pick(ids.count + 1)) }
        let models = ids.map { Contact($0, name) }
        model.set(data, models, isWritten: isWritten)
        provider.setData(models, cacheKey: "c", updateCache: isWritten)
      case 1...3:
        guard let id = model.freshID() else { return false }
        let place = pick(data.count + 1)
        model.insert(data, Contact(id, name), at: place, isWritten: isWritten)
        provider.insert([Contact(id, name)], at: place, updateCache: isWritten)
      case 4...5:
        guard let id = model.freshID() else { return false }
        model.insert(data, Contact(id, name), at: nil, isWritten: isWritten)
        provider.append([Contact(id, name)], updateCache: isWritten)
      case 6:
        guard let id = model.freshID() else { return false }
        model.insert(data, Contact(id, name), at: nil, isWritten: isWritten)
        Contacts.append(
          [Contact(id, name)], cacheKey: "c", dataModelManager: provider.dataModelManager,
          updateCache: isWritten)
      case 7...9 where !data.isEmpty:
        let place = pick(data.count)
        let id = pick(3) == 0 ? model.freshID() : nil
        let new = Contact(id ?? data[place].id, name)
        model.update(data, new, at: place, isWritten: isWritten)
        provider.update(new, at: place, updateCache: isWritten)
      case 10...11 where !data.isEmpty:
        let place = pick(data.count)
        model.remove(data, at: place, isWritten: isWritten)
        provider.remove(at: place, updateCache: isWritten)
      case 12...13 where !data.isEmpty:
        let (from, to) = (pick(data.count), pick(data.count))
        model.move(data, from: from, to: to, isWritten: isWritten)
        provider.move(from: from, to: to, updateCache: isWritten)
      default: return false
      }
      return true
    }

    /// Changes a node, whoever shows it.
    private mutating func change(_ manager: DataModelManager, _ isWritten: Bool) {
      let id = pick(16)
      if pick(2) == 0 {
        model.delete(id, isWritten: isWritten)
        manager.deleteModel(Contact(id), updateCache: isWritten)
      } else {
        let new = Contact(id, "\(pick(1000))")
        model.publish(new, isWritten: isWritten)
        manager.updateModel(new, updateCache: isWritten)
      }
    }
  }
}
