import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// All orders in which own writes are committed and shown, another process commits, and somebody looks for
/// that.
@Suite struct OtherCommitOrderTests {
  /// The next event.
  enum Step: Character {
    /// A write of this process is committed; its place in the pipeline's queue is taken.
    case write = "W"
    /// Another process commits.
    case other = "O"
    /// A look for that is queued.
    case look = "L"
    /// The pipeline carries out what is first in its queue.
    case run = "R"
  }

  /// All orders of so many steps.
  ///
  /// Nothing is run that is not queued, and what is queued at the end is run behind the last.
  static func orders(writes: Int, others: Int, looks: Int, queued: Int = 0) -> [[Step]] {
    if writes == 0, others == 0, looks == 0 { return [[]] }
    var orders: [[Step]] = []
    if writes > 0 {
      orders += Self.orders(writes: writes - 1, others: others, looks: looks, queued: queued + 1)
        .map { [.write] + $0 }
    }
    if others > 0 {
      orders += Self.orders(writes: writes, others: others - 1, looks: looks, queued: queued)
        .map { [.other] + $0 }
    }
    if looks > 0 {
      orders += Self.orders(writes: writes, others: others, looks: looks - 1, queued: queued + 1)
        .map { [.look] + $0 }
    }
    if queued > 0 {
      orders += Self.orders(writes: writes, others: others, looks: looks, queued: queued - 1)
        .map { [.run] + $0 }
    }
    return orders
  }

  static let allOrders =
    orders(writes: 2, others: 2, looks: 1) + orders(writes: 1, others: 1, looks: 2)

  @Test func `there are as many orders as there are to test`() {
    #expect(Self.allOrders.count == 525)
    #expect(Self.orders(writes: 1, others: 1, looks: 0).count == 3)
  }

  @Test func `in each of them what is shown is what some commit left, and never an older one`()
    async throws
  {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.mapSizeInBytes = 256 << 20
      configuration.durability = .unsynchronized
      let store = try ModelStore(path: path, configuration: configuration)
      let manager = try DataModelManager(store: store)
      let other = try OtherProcess(path)
      let people = OrderedRun.ids.map { _ in DataProvider<Person>(dataModelManager: manager) }
      for (id, person) in zip(OrderedRun.ids, people) {
        try await person.fetchDataFromCache(withCacheKey: "Person:\(id)", listensWhenAbsent: true)
      }
      for (number, order) in Self.allOrders.enumerated() {
        let run = try OrderedRun(number, store, people, other)
        try await run.perform(order)
      }
      other.end()
      await manager.close()
      await store.close()
    }
  }
}

/// One order: a list of three people, what is done to them, and what each commit left.
private final class OrderedRun {
  private struct State: Equatable {
    var list: [Person]
    var people: [Person?]
  }

  static let ids = [1, 2, 3, 8, 9]

  private let number: Int
  private let key: String
  private let store: ModelStore
  private let manager: DataModelManager
  private let other: OtherProcess
  private let line: StorePipeline
  private let list: ListFollower<Person>
  private let people: [DataProvider<Person>]
  private let edited: CollectionDataProvider<Person>
  private var history: [UInt64: State] = [:]
  private var shown: UInt64 = 0
  private var writeCount = 0
  private var otherCount = 0
  private var gates: [Gate] = []
  private var pending: [PendingWrite] = []

  /// Stops the pipeline.
  private final class Gate: Sendable {
    let isReached = Event()
    let opening = Event()
  }

  init(
    _ number: Int, _ store: ModelStore, _ people: [DataProvider<Person>], _ other: OtherProcess
  ) throws {
    (self.number, self.store, self.people, self.other) = (number, store, people, other)
    manager = people[0].dataModelManager
    key = "people-\(number)"
    line = try StorePipeline.pipeline(of: store)
    list = ListFollower(manager)
    edited = CollectionDataProvider(dataModelManager: manager)
  }

  func perform(_ order: [OtherCommitOrderTests.Step]) async throws {
    let name = "\(number): \(String(order.map(\.rawValue)))"
    let start = [1, 2, 3].map { Person(id: $0, name: "A") }
    try await store.write { [key] transaction in
      for id in Self.ids { try transaction.deleteIfPresent("Person:\(id)") }
      try transaction.setCollection(key, to: start)
    }
    try await list.provider.fetchDataFromCache(withCacheKey: key)
    try await edited.fetchDataFromCache(withCacheKey: key)
    await manager.drain()
    _ = list.takeCalls()
    try note()
    await addGate()
    await gates[0].isReached.happened()
    for step in order {
      switch step {
      case .write: try await write()
      case .other:
        try await commitByOther()
        continue
      case .look:
        line.othersMayHaveCommitted()
        await addGate()
      case .run: await runNext()
      }
      check("\(step) in \(name)")
    }
    while gates.count > 1 {
      await runNext()
      check("the end of \(name)")
    }
    gates.removeFirst().opening.signal()
    line.othersMayHaveCommitted()
    await manager.drain()
    check("all of \(name)")
    #expect(shown == history.keys.max(), "\(name)")
    var slots: [Person?] = start
    for change in list.takeChanges() {
      guard case .changes(let changes) = change else {
        Issue.record("a reset in \(name)")
        continue
      }
      slots.apply(changes) { _ in nil }
    }
    let isLedTo =
      slots.count == list.provider.data.count
      && zip(slots, list.provider.data).allSatisfy { $0 == nil || $0 == $1 }
    #expect(isLedTo, "\(name): told \(slots), shown \(list.provider.data)")
    for write in pending { _ = try? await write.committed() }
    #expect(edited.data == list.provider.data, "\(name)")
  }

  /// Stops the pipeline behind what is queued.
  private func addGate() async {
    let gate = Gate()
    gates.append(gate)
    line.enqueue {
      gate.isReached.signal()
      gate.opening.wait()
    }
  }

  private func runNext() async {
    gates.removeFirst().opening.signal()
    await gates[0].isReached.happened()
  }

  /// Notes what the newest commit left.
  private func note() throws {
    let (number, state) = try store.read { snapshot in
      (
        try snapshot.commitNumber.value,
        State(
          list: try snapshot.collection(key, as: Person.self) ?? [],
          people: try Self.ids.map { try snapshot.get("Person:\($0)", as: Person.self) })
      )
    }
    history[number] = state
  }

  private func check(_ place: String) {
    let state = manager.snapshot { snapshot in
      State(
        list: snapshot.data(of: list.provider), people: people.map { snapshot.data(of: $0) })
    }
    let now = line.shown
    #expect(now >= shown, "\(place)")
    shown = now
    #expect(state == history[now], "\(place), at commit \(now)")
  }

  private func write() async throws {
    // Each is made in many orders, beside each of the others.
    let kind = (number + writeCount * 3) % 8
    writeCount += 1
    let count = edited.count
    let write =
      switch kind {
      case 0: edited.append([Person(id: 3, name: "W\(writeCount)")])
      case 1: edited.insert([Person(id: 8, name: "W\(writeCount)")], at: 0)
      case 2: edited.move(from: 0, to: max(0, count - 1))
      case 3: edited.remove(at: 0)
      case 4: edited.update(Person(id: 1, name: "W\(writeCount)"), at: 0)
      case 5: manager.deleteModel(Person(id: 3, name: ""))
      // These change nothing, unless somebody else has.
      case 6: manager.updateModel(Person(id: 1, name: "A"))
      default: manager.deleteModel(Person(id: 9, name: ""))
      }
    pending.append(write)
    // Behind it in the writer's queue.
    try await blocking { [store] in try store.write { _ in } }
    try note()
    await addGate()
  }

  private func commitByOther() async throws {
    let kind = (number / 8 + otherCount * 2) % 6
    otherCount += 1
    let text =
      switch kind {
      case 0: "set 9 O\(otherCount)"
      case 1: "set 1 O\(otherCount)"
      case 2: "delete 2"
      case 3: "remove 0 \(key)"
      case 4: "delete 3"
      default: "set 8 O\(otherCount)"
      }
    try other.perform(text)
    try note()
    guard kind == 0 || kind == 5 else { return }
    // A second commit, so that a look folds several.
    try other.perform("\(kind == 0 ? "append" : "insert") \(kind == 0 ? 9 : 8) \(key)")
    try note()
  }
}
