import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

/// Calls of delegates and elements of list sequences while writes are queued.
@Suite struct CollectionTellingTests {
  /// The list is not known to be loaded before the first write is committed, so it was read as a whole.
  @Test func `the editing provider is not notified of the row that it has inserted`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let list = ListFollower<Contact>(manager)
      let gate = WriterGate(store)
      list.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
      list.provider.insert([Contact(3)], at: 1)
      list.provider.update(Contact(1, "Ada"), at: 0)
      gate.open()
      await manager.drain()
      #expect(list.provider.data == [Contact(1, "Ada"), Contact(3), Contact(2)])
      #expect(list.takeChanges().isEmpty)
      await manager.close()
    }
  }

  private struct Fragment: Model, Codable, Equatable {
    var id: Int
    var modelIdentifier: String? { "Contact:\(id)" }
  }

  /// The write that sets the fragment was prepared before the deletion was shown.
  @Test func `a sequence goes on when what can't be read any more has left the list`()
    async throws
  {
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let events = EventLog()
      manager.delegate = events
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.setData(Contact.list(1, 2), cacheKey: "contacts").committed()
      var values = provider.values.makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2))
      let gate = WriterGate(store)
      manager.deleteModel(Contact(2))
      manager.updateModel(Fragment(id: 2))
      gate.open()
      await manager.drain()
      try await expectNext(&values, Contact.list(1))
      provider.append([Contact(3)])
      try await expectNext(&values, Contact.list(1, 3))
      #expect(events.failedReads.isEmpty)
      await manager.close()
    }
  }

  /// Sequences of a list from which something had vanished in memory missed updates of elements.
  @Test(arguments: Backing.allCases)
  func `changes lead to the list after deletions that are not written`(
    backing: Backing
  ) async throws {
    for seed in 0..<20 { try await follow(backing, SeededGenerator(seed: UInt64(seed))) }
  }

  private func follow(_ backing: Backing, _ random: SeededGenerator) async throws {
    var random = random
    try await backing.withManager { manager in
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.setData((0..<8).map { Contact($0) }, cacheKey: "contacts").committed()
      let ends = (0..<2).map { _ in
        let sequence = provider.changes
        return Task {
          var list: [Contact] = []
          for try await change in sequence {
            list = list.applying(change.change, from: change.data) { $0 }
            try #require(list == change.data)
          }
          return list
        }
      }
      func pick(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
      for step in 0..<30 {
        let name = "\(step)"
        let count = provider.count
        switch pick(9) {
        case 0: manager.deleteModel(Contact(pick(10)), updateCache: false)
        case 1...2: manager.updateModel(Contact(pick(10), name))
        case 3 where count > 0: provider.update(Contact(pick(10), name), at: pick(count))
        case 4 where count > 0: provider.move(from: pick(count), to: pick(count))
        case 5 where count > 0: provider.remove(at: pick(count))
        case 6: provider.insert([Contact(pick(10), name)], at: pick(count + 1))
        case 7: await Task.yield()
        default: provider.append([Contact(pick(10), name)])
        }
      }
      await manager.drain()
      await manager.close()
      for end in ends { #expect(try await end.value == provider.data) }
    }
  }
}
