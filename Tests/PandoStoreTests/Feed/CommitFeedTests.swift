import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Those who follow a store: what they are handed, when, and in which order.
@Suite(.overBothBackings) struct CommitFeedTests {
  private struct Stop: Error {}

  /// Notes what it is handed.
  private final class Witness: CommitFollower {
    private let state = Locked<[[CommitEffects]]>([])
    private let onFlush: @Sendable () -> Void

    init(onFlush: @escaping @Sendable () -> Void = {}) { self.onFlush = onFlush }

    var flushes: [[CommitEffects]] { state.withLock { $0 } }
    var notes: [String] { flushes.joined().map(Self.note) }

    func receive(_ flush: [CommitEffects]) {
      state.withLock { $0.append(flush) }
      onFlush()
    }

    func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }

    func othersMayHaveCommitted() {}

    private static func note(_ write: CommitEffects) -> String {
      let number = write.changeSet.map { "\($0.commitNumber.value)" } ?? "none"
      var names: [String] = []
      for models in write.content.models {
        models.forEach { names.append(($0 as? Person)?.name ?? $0.modelIdentifier ?? "-") }
      }
      let failure = write.failure.map { " \($0)" } ?? ""
      return "\(number) \(write.ticket as? String ?? "-") \(names.joined(separator: ","))\(failure)"
    }
  }

  /// Has writes share a flush.
  private func inOneFlush(_ store: ModelStore, _ submit: () throws -> Void) throws {
    let (isHeld, held) = (Event(), Event())
    try store.submit(ticket: "hold", context: nil) { _ in
      isHeld.signal()
      held.wait()
    }
    isHeld.wait()
    try submit()
    held.signal()
    try store.write { _ in }
  }

  @Test func `each write of a flush comes by itself, with what it was given, in order`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try inOneFlush(store) {
      for name in ["Ada", "Grace", "Ada"] {
        try store.submit(ticket: "set \(name)", context: nil) {
          try $0.set(Person(id: 1, name: name))
        }
      }
      try store.submit(ticket: "marker", context: nil) { _ in }
    }
    #expect(
      witness.notes == [
        "none hold ", "1 set Ada Ada", "2 set Grace Grace", "3 set Ada Ada", "none marker ",
      ])
    #expect(witness.flushes.joined().map(\.commitValue) == [0, 1, 2, 3, 3])
    store.close()
  }

  @Test func `followers get the failure of a write, and only the last run of its flush`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try inOneFlush(store) {
      try store.submit(ticket: "first", context: nil) { try $0.set(Person(id: 1, name: "Ada")) }
      try store.submit(ticket: "spoiler", context: nil) {
        try $0.set(Person(id: 1, name: "Nobody"))
        throw Stop()
      }
      try store.submit(ticket: "last", context: nil) { try $0.set(Person(id: 1, name: "Grace")) }
    }
    #expect(
      witness.notes == ["none spoiler  Stop()", "none hold ", "1 first Ada", "2 last Grace"])
    store.close()
  }

  @Test func `a write that is refused comes at its place between the others`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try inOneFlush(store) {
      try store.submit(ticket: "first", context: nil) { try $0.set(Person(id: 1, name: "Ada")) }
      try store.submit(ticket: "refused", context: nil) { _ in throw Stop() }
      try store.submit(ticket: "last", context: nil) { try $0.set(Person(id: 1, name: "Grace")) }
    }
    #expect(
      witness.notes == ["none hold ", "1 first Ada", "none refused  Stop()", "2 last Grace"])
    store.close()
  }

  @Test func `the failure of a flush comes between the writes before and after`() throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 20
    let store = try ModelStore.forTest(configuration)
    let witness = Witness()
    store.feed.add(witness)
    try inOneFlush(store) {
      try store.submit(ticket: "first", context: nil) { try $0.set(Person(id: 1, name: "Ada")) }
      try store.submit(ticket: "large", context: nil) {
        try $0.set(Person(id: 2, name: String(repeating: "x", count: 2 << 20)))
      }
      try store.submit(ticket: "last", context: nil) { try $0.set(Person(id: 1, name: "Grace")) }
    }
    let writes = witness.flushes.joined()
    #expect(writes.map { $0.ticket as? String } == ["hold", "first", "large", "last"])
    #expect((writes.map(\.failure)[2] as? LMDBError)?.code == .mapFull)
    store.close()
  }

  @Test func `writes without a ticket come when they changed something`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    #expect(witness.notes == ["1 - Ada"])
    store.close()
  }

  @Test func `changes of a nested transaction that throws are not handed over`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try store.write { transaction in
      try transaction.set(Person(id: 1, name: "Ada"))
      try? transaction.nested { inner in
        try inner.set(Person(id: 1, name: "Nobody"))
        _ = try inner.deleteIfPresent("Person:1")
        throw Stop()
      }
    }
    #expect(witness.notes == ["1 - Ada"])
    #expect(witness.flushes[0][0].content.isPlain)
    store.close()
  }

  @Test(arguments: [true, false])
  func `models stand for what is stored as long as a write does one kind of thing`(
    setsLast: Bool
  ) throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    try store.write { transaction in
      if !setsLast { try transaction.set(Person(id: 2, name: "Bob")) }
      _ = try transaction.deleteIfPresent("Person:1")
      if setsLast { try transaction.set(Person(id: 2, name: "Bob")) }
    }
    try store.write { try $0.merge(Person(id: 2, name: "Cy")) }
    let plain = witness.flushes.joined().map(\.content.isPlain)
    #expect(plain == [true, false, false])
    store.close()
  }

  @Test func `elements come with the steps that list them`() throws {
    let store = try ModelStore.forTest()
    let witness = Witness()
    store.feed.add(witness)
    let people = (1...4).map { Person(id: $0, name: "\($0)") }
    try store.write { try $0.setCollection("c", to: Array(people[0..<2])) }
    try store.write { transaction in
      try transaction.append([people[2]], toCollection: "c")
      try transaction.removeElements(in: 0..<1, fromCollection: "c")
      try transaction.update(people[3], at: 0, inCollection: "c")
    }
    let lists = witness.flushes.joined().map { $0.content.lists[ByteString("c")] }
    guard case .whole(let all) = lists[0], case .steps(let steps) = lists[1] else {
      Issue.record("\(lists)")
      return
    }
    #expect(all.models(as: Person.self) == Array(people[0..<2]))
    #expect(steps.map { $0.models(as: Person.self) } == [[people[2]], [people[3]]])
    #expect(all.models(as: String.self) == nil)
    store.close()
  }

  @Test func `a follower is not retained, and several are handed each write`() throws {
    let store = try ModelStore.forTest()
    let first = Witness()
    store.feed.add(first)
    weak var gone: Witness?
    do {
      let second = Witness()
      gone = second
      store.feed.add(second)
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      #expect(second.notes == first.notes)
    }
    try store.write { _ in }  // the writer lets go of whom it has told
    #expect(gone == nil)
    try store.write { try $0.set(Person(id: 1, name: "Grace")) }
    #expect(first.notes.last == "2 - Grace")
    store.close()
  }

  @Test func `a reader that has seen a commit can wait until it is handed over`() throws {
    let store = try ModelStore.forTest()
    let (isIn, goesOn) = (Event(), Event())
    let witness = Witness {
      isIn.signal()
      goesOn.wait()
    }
    store.feed.add(witness)
    try store.submit(ticket: "set", context: nil) { try $0.set(Person(id: 1, name: "Ada")) }
    isIn.wait()
    // It is on disk and being handed over.
    let number = try store.read { try $0.commitNumber.value }
    #expect(number == 1)
    #expect(store.feed.isAwaited(1))
    #expect(!store.feed.isAwaited(0))
    let hasWaited = Locked(false)
    let isOver = Event()
    startThread(named: "waits") {
      store.feed.waitForHandOver(of: 1)
      hasWaited.withLock { $0 = true }
      isOver.signal()
    }
    store.feed.waitForHandOver(of: 0)
    #expect(!hasWaited.withLock { $0 })
    goesOn.signal()
    isOver.wait()
    #expect(!store.feed.isAwaited(1))
    store.close()
  }

  @Test func `a write that can't be queued fails at once`() throws {
    let store = try ModelStore.forTest()
    store.close()
    let error = #expect(throws: StoreError.self) {
      try store.submit(ticket: "late", context: nil) { _ in }
    }
    #expect(error?.code == .closed)
  }
}
