import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// One task changes nodes and a list at random and waits for nothing; where all is quiet what is shown,
/// told and stored is what a naive model says.
@Suite struct SingleTaskRandomTests {
  @Test(arguments: Backing.allCases, seeds(6))
  func `at quiescence shown, reported and stored values match a naive model`(
    backing: Backing, seed: UInt64
  ) async throws {
    try await run(backing, seed)
  }

  private func run(_ backing: Backing, _ seed: UInt64) async throws {
    switch backing {
    case .memory:
      let manager = DataModelManager()
      var run = SingleTaskRun(manager, seed) { Gate(stopping: manager) }
      try await run.perform { _ in }
    case .cache:
      let cache = DictionaryCache()
      let manager = DataModelManager(cacheDelegate: cache)
      var run = SingleTaskRun(manager, seed) { Gate(stopping: manager) }
      try await run.perform { expected in
        let stored = try await cache.collection(forKey: "c", as: Contact.self, context: nil)
        #expect(stored?.map(\.id) == expected.map(\.id), "seed \(seed)")
      }
    case .store, .storeInMemory:
      try await withStore(backing) { store in
        let manager = try DataModelManager(store: store)
        var run = SingleTaskRun(manager, seed) { Gate(stopping: store) }
        try await run.perform { expected in
          let stored = try store.read { try $0.collection("c", as: Contact.self) }
          #expect(stored == expected, "seed \(seed)")
        }
        await manager.close()
      }
    }
  }
}

/// Random calls, and what they should lead to.
private struct SingleTaskRun {
  private static let idCount = 10
  private static let roundCount = 5
  private static let stepCount = 12

  private let seed: UInt64
  private let manager: DataModelManager
  /// Keeps what is called from being carried out.
  private let stop: () -> Gate
  /// Edits the list.
  private let list: CollectionDataProvider<Contact>
  /// Is told of the edits.
  private let sibling: ListReplica
  /// A provider for each node.
  private let trees: [DataProvider<Contact>]
  /// Sets nodes.
  private let setter: DataProvider<Contact>
  private var random: SeededGenerator
  /// The naive model: the contents of the nodes, and the nodes in the list.
  private var names: [Int: String] = [:]
  private var elements: [Int] = []

  init(_ manager: DataModelManager, _ seed: UInt64, stoppedBy stop: @escaping () -> Gate) {
    self.seed = seed
    self.stop = stop
    self.manager = manager
    random = SeededGenerator(seed: seed)
    list = CollectionDataProvider(dataModelManager: manager)
    sibling = ListReplica(manager)
    trees = (0..<Self.idCount).map { _ in DataProvider(dataModelManager: manager) }
    setter = DataProvider(dataModelManager: manager)
  }

  /// Makes the calls, and compares at quiet points; `compareStored` gets the list that should be
  /// stored.
  mutating func perform(_ compareStored: ([Contact]) async throws -> Void) async throws {
    elements = [0, 1, 2, 3]
    for id in elements { names[id] = "" }
    try await list.setData(Contact.list(0, 1, 2, 3), cacheKey: "c").committed()
    try await sibling.provider.fetchDataFromCache(withCacheKey: "c")
    for (id, tree) in trees.enumerated() { tree.listen(to: "Contact:\(id)") }
    await manager.drain()
    for id in elements { manager.updateModel(Contact(id, "first")) }
    for id in elements { names[id] = "first" }
    await manager.drain()
    sibling.check("seed \(seed)")
    for round in 0..<Self.roundCount {
      // Of every other round nothing is carried out before all of it has been called, and of the others
      // each is carried out before the next: what a place means must not change while it is chosen.
      let gate = round.isMultiple(of: 2) ? stop() : nil
      for step in 0..<Self.stepCount {
        change("\(round).\(step)")
        if gate == nil { await manager.drain() }
      }
      gate?.open()
      await manager.drain()
      let expected = elements.map { Contact($0, names[$0] ?? "gone") }
      #expect(list.data == expected, "seed \(seed), round \(round)")
      #expect(sibling.provider.data == expected, "seed \(seed), round \(round)")
      sibling.check("seed \(seed), round \(round)")
      for (id, tree) in trees.enumerated() {
        #expect(tree.data == names[id].map { Contact(id, $0) }, "seed \(seed), round \(round)")
      }
      try await compareStored(expected)
    }
  }

  private mutating func change(_ name: String) {
    let id = Int.random(in: 0..<Self.idCount, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<2:
      manager.updateModel(Contact(id, name))
      names[id] = name
    case 2..<4:
      manager.deleteModel(Contact(id))
      names[id] = nil
      elements.removeAll { $0 == id }
    case 4:
      setter.setData(Contact(id, name))
      names[id] = name
    default: edit(name)
    }
  }

  private mutating func edit(_ name: String) {
    let shown = list.data.map(\.id)
    guard !shown.isEmpty, Bool.random(using: &random) else { return bringIn(name, shown) }
    let place = Int.random(in: shown.indices, using: &random)
    let id = shown[place]
    // One that is shown and deleted already can't be edited any more.
    let isThere = elements.contains(id)
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      guard isThere else { return }
      list.update(Contact(id, name), at: place)
      names[id] = name
    case 1:
      list.remove(at: place)
      elements.removeAll { $0 == id }
    default:
      var rest = shown
      rest.remove(at: place)
      let target = Int.random(in: 0...rest.count, using: &random)
      guard let index = modelPlace(of: target, in: rest, without: id) else { return }
      list.move(from: place, to: target)
      guard isThere else { return }
      elements.removeAll { $0 == id }
      elements.insert(id, at: index)
    }
  }

  /// Inserts a node that the list neither shows nor has.
  private mutating func bringIn(_ name: String, _ shown: [Int]) {
    let free = (0..<Self.idCount).filter { !shown.contains($0) && !elements.contains($0) }
    guard let id = free.randomElement(using: &random) else { return }
    let place = Int.random(in: 0...shown.count, using: &random)
    guard let index = modelPlace(of: place, in: shown) else { return }
    if place == shown.count {
      list.append([Contact(id, name)])
    } else {
      list.insert([Contact(id, name)], at: place)
    }
    elements.insert(id, at: index)
    names[id] = name
  }

  /// Where a place of what is shown is in the naive model's list; `nil` if both neighbours have gone.
  private func modelPlace(of place: Int, in shown: [Int], without hidden: Int? = nil) -> Int? {
    let elements = elements.filter { $0 != hidden }
    if place == shown.count { return elements.count }
    if let index = elements.firstIndex(of: shown[place]) { return index }
    if place == 0 { return 0 }
    return elements.firstIndex(of: shown[place - 1]).map { $0 + 1 }
  }
}
