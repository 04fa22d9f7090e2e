import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// Random changes by several providers of one key, and by others.
///
/// At quiet points all providers show the same list, what each was told leads to it, and the store
/// holds it.
@Suite struct CollectionRandomTests {
  @Test(arguments: seeds(8))
  func `in memory, notifications lead to the shown list`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let manager = DataModelManager()
    let replicas = (0..<3).map { _ in ListReplica(manager) }
    replicas[0].provider.setData([], cacheKey: "contacts")
    for replica in replicas {
      try await replica.provider.fetchDataFromCache(withCacheKey: "contacts")
    }
    await manager.drain()
    for step in 0..<steps(60) {
      for _ in 0..<Int.random(in: 1..<4, using: &random) {
        let replica = replicas[Int.random(in: 0..<3, using: &random)]
        // On the delivery queue all have been told before the next change.
        var generator = random
        manager.onDelivery { [generator] in
          var generator = generator
          replica.change(&generator, resets: step % 7 == 0)
        }
        _ = generator.next()
        random = SeededGenerator(seed: generator.next())
        await manager.drain()
      }
      let id = Int.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: manager.deleteModel(Contact(id))
      case 1: manager.updateModel(Contact(id, "elsewhere \(step)"))
      case 2: replicas[step % 3].provider.isPaused.toggle()
      default: break
      }
      await manager.drain()
      for (number, replica) in replicas.enumerated() {
        replica.check("seed \(seed), step \(step), provider \(number)")
      }
    }
    for replica in replicas { replica.provider.isPaused = false }
    await manager.drain()
    for replica in replicas {
      replica.check("seed \(seed)")
      #expect(replica.provider.data == replicas[0].provider.data, "seed \(seed)")
    }
  }

  @Test(arguments: seeds(8))
  func `over a store, notifications lead to the shown and stored list`(seed: UInt64) async throws {
    try await withStore { store in
      var random = SeededGenerator(seed: seed)
      let manager = try DataModelManager(store: store)
      let replicas = (0..<3).map { _ in ListReplica(manager) }
      let watcher = ListReplica(manager)
      replicas[0].provider.setData([], cacheKey: "contacts")
      for replica in replicas + [watcher] {
        try await replica.provider.fetchDataFromCache(withCacheKey: "contacts")
      }
      await manager.drain()
      for replica in replicas + [watcher] { replica.check("at the beginning") }
      for step in 0..<steps(40) {
        // Nobody looks at what one provider is told between the calls of another: so in a step each
        // provider's own changes come before it is told of those of the others.
        let actor = replicas[step % 3]
        let isRace = step % 2 == 1
        let gate = WriterGate(store)
        if isRace { try Self.changeElsewhere(store, &random) }
        for _ in 0..<Int.random(in: 1..<5, using: &random) {
          actor.change(&random, resets: step % 9 == 8)
        }
        if isRace {
          for other in replicas where other !== actor { other.change(&random, resets: false) }
        }
        gate.open()
        if !isRace { try Self.changeElsewhere(store, &random) }
        await manager.drain()
        let stored = try await store.read { try $0.collection("contacts", as: Contact.self) }
        #expect(stored == watcher.provider.data, "seed \(seed), step \(step)")
        for (number, replica) in (replicas + [watcher]).enumerated() {
          #expect(replica.provider.data == stored, "seed \(seed), step \(step)")
          replica.check("seed \(seed), step \(step), provider \(number)")
        }
      }
      await manager.close()
    }
  }

  /// Queues a write of somebody who knows no manager.
  private static func changeElsewhere(_ store: ModelStore, _ random: inout SeededGenerator) throws {
    let id = Int.random(in: 0..<12, using: &random)
    let kind = Int.random(in: 0..<7, using: &random)
    let number = Int.random(in: 0..<100, using: &random)
    try store.submit(ticket: "elsewhere", context: nil) { transaction in
      let count = try transaction.snapshot.collectionCount("contacts") ?? 0
      switch kind {
      case 0: _ = try transaction.deleteIfPresent("Contact:\(id)")
      case 1: try transaction.set(Contact(id, "elsewhere \(number)"))
      case 2: try transaction.append([Contact(id, "new \(number)")], toCollection: "contacts")
      case 3 where count > 0:
        try transaction.removeElements(
          in: (number % count)..<(number % count + 1), fromCollection: "contacts")
        try transaction.insert([Contact(id, "x")], at: 0, inCollection: "contacts")
      case 4 where count > 1:
        try transaction.moveElement(
          from: number % count, to: id % count, inCollection: "contacts")
      case 5 where count > 0:
        try transaction.update(
          Contact(id, "y"), at: number % count, inCollection: "contacts")
      default: break
      }
    }
  }

  @Test(arguments: [Backing.memory, .store, .storeInMemory], seeds(4))
  func `concurrent edits leave one list, and a listener is notified of all of them`(
    backing: Backing, seed: UInt64
  ) async throws {
    try await backing.withManager { manager in
      let replicas = (0..<4).map { _ in ListReplica(manager) }
      let watchers = (0..<2).map { _ in ListReplica(manager) }
      replicas[0].provider.setData([Contact(1), Contact(2)], cacheKey: "contacts")
      for replica in replicas + watchers {
        try await replica.provider.fetchDataFromCache(withCacheKey: "contacts")
      }
      await manager.drain()
      for round in 0..<4 {
        for watcher in watchers { watcher.check("seed \(seed), round \(round)") }
        try onThreads(5) { thread in
          var random = SeededGenerator(seed: seed &* 1000 &+ UInt64(round * 10 + thread))
          for _ in 0..<25 {
            if thread < 4 {
              replicas[thread].changeSafely(&random)
            } else {
              let id = Int.random(in: 0..<12, using: &random)
              if Bool.random(using: &random) {
                manager.updateModel(Contact(id, "t\(round)"))
              } else {
                manager.deleteModel(Contact(id))
              }
            }
          }
        }
        await manager.drain()
        for watcher in watchers { watcher.check("seed \(seed), round \(round)") }
        for replica in replicas + watchers {
          #expect(replica.provider.data == watchers[0].provider.data)
        }
        if case .store(let bridge) = manager.backing {
          let stored = try await bridge.store.read {
            try $0.collection("contacts", as: Contact.self)
          }
          #expect(stored == watchers[0].provider.data, "seed \(seed), round \(round)")
        }
      }
    }
  }
}

extension ListReplica {
  /// Makes a random change that may be refused, as others change the list meanwhile.
  func changeSafely(_ random: inout SeededGenerator) {
    let contact = Contact(Int.random(in: 0..<12, using: &random), "s")
    let place = Int.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: provider.insert([contact], at: place)
    case 1: provider.append([contact])
    case 2: provider.update(contact, at: place)
    case 3: provider.remove(at: place)
    case 4: provider.move(from: place, to: Int.random(in: 0..<8, using: &random))
    default: provider.remove(at: place..<(place + 2))
    }
  }
}
