import Dispatch
import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Synchronization
import Testing

@testable import PandoManagersFixtures

/// A model that counts how often it is decoded from a record.
private struct Counted: Model, Codable, Equatable {
  static let decodeCount = Atomic<Int>(0)

  var modelIdentifier: String?
  var value: Int
  var part: Part?

  init(_ key: String, _ value: Int, part: Part? = nil) {
    (modelIdentifier, self.value, self.part) = (key, value, part)
  }

  init(from decoder: any Decoder) throws {
    Self.decodeCount.add(1, ordering: .relaxed)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    modelIdentifier = try container.decodeIfPresent(String.self, forKey: .modelIdentifier)
    value = try container.decode(Int.self, forKey: .value)
    part = try container.decodeIfPresent(Part.self, forKey: .part)
  }
}

private struct Part: Model, Codable, Equatable {
  var modelIdentifier: String?
  var name: String

  init(_ key: String, _ name: String) { (modelIdentifier, self.name) = (key, name) }
}

private struct Pair: Model, Codable, Equatable {
  var modelIdentifier: String?
  var first: Counted
  var second: Counted
}

private struct Job: Model, Codable, Equatable, Queryable {
  var modelIdentifier: String?
  var priority: Int

  static let fields: [Field<Job>] = [.field(\.priority)]
}

/// Providers beside a followed query that every write affects.
@Suite(.serialized) struct BesideQueryTests {
  private static let count = 1000

  /// Runs `body` with a store whose providers show a thousand counted models beside a followed query of all jobs.
  private func run(
    _ body: (ModelStore, DataModelManager, [DataProvider<Counted>]) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let manager = try DataModelManager(store: store)
      try await store.write { transaction in
        for number in 0..<Self.count { try transaction.set(Counted("c\(number)", 0)) }
      }
      var providers: [DataProvider<Counted>] = []
      for number in 0..<Self.count {
        let provider = DataProvider<Counted>(dataModelManager: manager)
        _ = try await provider.fetchDataFromCache(withCacheKey: "c\(number)")
        providers.append(provider)
      }
      let query = store.follow(Query(order: [.descending(\Job.priority)]))
      var jobs = query.makeAsyncIterator()
      _ = try await jobs.next()
      Counted.decodeCount.store(0, ordering: .relaxed)
      try await body(store, manager, providers)
      let result = try await jobs.next()
      #expect(try await store.read { try $0.answer(.count, to: Query<Job>.all) } == result?.count)
      await manager.close()
    }
  }

  @Test func `a write that also affects a followed query decodes no model for providers`()
    async throws
  {
    try await run { store, _, providers in
      try await store.write { transaction in
        try transaction.set(Job(modelIdentifier: "t", priority: 1))
        for number in 0..<Self.count { try transaction.set(Counted("c\(number)", 1)) }
      }
      #expect(providers.map { $0.data?.value } == Array(repeating: 1, count: Self.count))
      #expect(Counted.decodeCount.load(ordering: .relaxed) == 0)
    }
  }

  @Test(arguments: [false, true])
  func `writes that are shown in one step with a query decode no model for providers`(
    afterChangeInMemory: Bool
  ) async throws {
    try await run { store, manager, providers in
      if afterChangeInMemory {
        let provider = DataProvider<Part>(dataModelManager: manager)
        provider.setData(Part("p", "not stored"), updateCache: false)
        await manager.drain()
      }
      let gate = DispatchSemaphore(value: 0)
      manager.enqueue { gate.wait() }
      for step in 1...3 {
        try commit(to: store) { transaction in
          try transaction.set(Job(modelIdentifier: "t\(step)", priority: step))
          for number in 0..<Self.count where number.isMultiple(of: step) {
            try transaction.set(Counted("c\(number)", step))
          }
        }
      }
      gate.signal()
      await manager.drain()
      let expected = (0..<Self.count).map { number in
        (1...3).last { number.isMultiple(of: $0) }
      }
      #expect(providers.map { $0.data?.value } == expected)
      #expect(Counted.decodeCount.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `a model that a write gave holds the child that a later write of the step changed`()
    async throws
  {
    try await run { store, manager, providers in
      let gate = DispatchSemaphore(value: 0)
      manager.enqueue { gate.wait() }
      try commit(to: store) { transaction in
        try transaction.set(Job(modelIdentifier: "t", priority: 1))
        try transaction.set(Counted("c0", 1, part: Part("p", "first")))
      }
      try commit(to: store) { try $0.set(Part("p", "second")) }
      gate.signal()
      await manager.drain()
      #expect(providers[0].data == Counted("c0", 1, part: Part("p", "second")))
    }
  }

  @Test func `a model that a write gave first holds the child that the write gave last`()
    async throws
  {
    try await run { store, manager, providers in
      try await store.write { try $0.set(Part("p", "stored")) }
      try await store.write { transaction in
        try transaction.set(Counted("c0", 1, part: Part("p", "first")))
        try transaction.set(Counted("c1", 1, part: Part("p", "stored")))
      }
      await manager.drain()
      #expect(providers[0].data == Counted("c0", 1, part: Part("p", "stored")))
      #expect(providers[1].data == Counted("c1", 1, part: Part("p", "stored")))
      try await store.write { try $0.set(Job(modelIdentifier: "t", priority: 1)) }
    }
  }

  /// Fixed: a provider showed the content that the tree has at its own place.
  @Test(arguments: [false, true])
  func `a model inside a tree holds the child that the tree has last`(isOwn: Bool) async throws {
    try await run { store, manager, providers in
      let pair = Pair(
        modelIdentifier: "pair", first: Counted("c0", 1, part: Part("p", "first")),
        second: Counted("c1", 1, part: Part("p", "second")))
      if isOwn {
        let provider = DataProvider<Pair>(dataModelManager: manager)
        try await provider.setData(pair).committed()
      } else {
        try await store.write { try $0.set(pair) }
      }
      await manager.drain()
      #expect(providers[0].data == Counted("c0", 1, part: Part("p", "second")))
      #expect(providers[1].data == Counted("c1", 1, part: Part("p", "second")))
      let stored = try await store.read { try $0.get("c0", as: Counted.self) }
      #expect(providers[0].data == stored)
      try await store.write { try $0.set(Job(modelIdentifier: "t", priority: 1)) }
    }
  }

  @Test(arguments: ListWrite.allCases)
  fileprivate func `a list holds what a write gave last of its elements and of nodes inside`(
    write: ListWrite
  ) async throws {
    try await withModelStore { store in
      let manager = try DataModelManager(store: store)
      try await store.write { try $0.set(Part("p", "stored")) }
      let list = CollectionDataProvider<Counted>(dataModelManager: manager)
      _ = try await list.fetchDataFromCache(withCacheKey: "list")
      try await store.write { try write.carryOut(in: &$0) }
      await manager.drain()
      let stored = try await store.read { try $0.collection("list", as: Counted.self) }
      #expect(list.data == stored)
      #expect(stored?.isEmpty == false)
      await manager.close()
    }
  }

  /// Commits on the calling thread, which does not wait for those who show the commit.
  private func commit(
    to store: ModelStore, _ body: @Sendable (inout ModelTransaction) throws -> Void
  ) throws {
    try store.write(body)
  }
}

/// A write that gives a node more than once.
private enum ListWrite: CaseIterable {
  case elementAgain, childAgain, childBack, childDeleted, childUpdated

  func carryOut(in transaction: inout ModelTransaction) throws {
    try transaction.append([Counted("c", 1, part: Part("p", "first"))], toCollection: "list")
    switch self {
    case .elementAgain: try transaction.set(Counted("c", 2, part: Part("p", "first")))
    case .childAgain: try transaction.set(Counted("d", 1, part: Part("p", "second")))
    case .childBack:
      try transaction.append([Counted("d", 1, part: Part("p", "stored"))], toCollection: "list")
    case .childDeleted: try transaction.deleteIfPresent("p")
    case .childUpdated:
      try transaction.updateIfPresent(Part.self, "p") { $0.name = "second" }
    }
  }
}
