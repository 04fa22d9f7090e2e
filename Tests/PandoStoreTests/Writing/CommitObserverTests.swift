import Dispatch
import PandoSystem
import PandoModels
import PandoFixtures
import Testing

@testable import PandoStore

/// Those who follow every write: what they can read, and in which order they are told.
@Suite struct CommitObserverTests {
  private struct Stop: Error {}

  /// Notes what it is told and what it reads of `Person:1` in each transaction.
  private final class Witness: CommitObserver {
    private let state = Locked<[String]>([])

    var notes: [String] { state.withLock { $0 } }

    func beginFlush() { note("flush") }

    func prepare(
      _ changeSet: ChangeSet?, ticket: (any Sendable)?, in snapshot: ModelSnapshot
    ) -> (any Sendable)? {
      let person = (try? snapshot.model("Person:1", as: Person.self))?.name ?? "nobody"
      return "\(name(of: changeSet)) \(ticket as? String ?? "-") \(person)"
    }

    func committed(
      _ changeSet: ChangeSet?, ticket: (any Sendable)?, prepared: (any Sendable)?
    ) {
      note("\(name(of: changeSet)): \(prepared as? String ?? "nothing")")
    }

    private func name(of changeSet: ChangeSet?) -> String {
      changeSet.map { "\($0.commitNumber)" } ?? "none"
    }

    private func note(_ text: String) { state.withLock { $0.append(text) } }
  }

  @Test func `each write of a flush is read alone, inside the transaction, and told in order`()
    throws
  {
    let store = try ModelStore.temporary(configuration: .forTests)
    let (isHeld, held, witness) = (Event(), Event(), Witness())
    store.addObserver(witness)
    store.submit(ticket: "hold", context: nil) { _ in
      isHeld.signal()
      held.wait()
    }
    isHeld.wait()
    for name in ["Ada", "Grace", "Ada"] {
      store.submit(ticket: "set \(name)", context: nil) {
        try $0.set(Person(id: 1, name: name))
      }
    }
    store.submit(ticket: "marker", context: nil) { _ in }
    held.signal()
    try store.write { _ in }
    #expect(
      witness.notes.filter { $0 != "flush" } == [
        "none: none hold nobody", "1: 1 set Ada Ada", "2: 2 set Grace Grace", "3: 3 set Ada Ada",
        "none: none marker Ada",
      ])
    store.close()
  }

  @Test func `a flush that runs again is prepared again, and only its last run is told`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let (isHeld, held, witness) = (Event(), Event(), Witness())
    store.addObserver(witness)
    store.submit(ticket: "hold", context: nil) { _ in
      isHeld.signal()
      held.wait()
    }
    isHeld.wait()
    let failures = Locked<[String]>([])
    store.submit(ticket: "first", context: nil) { try $0.set(Person(id: 1, name: "Ada")) }
    store.submit(ticket: "spoiler", context: nil) {
      try $0.set(Person(id: 1, name: "Nobody"))
      throw Stop()
    } completion: { result in
      if case .failure(let error) = result { failures.withLock { $0.append("\(error)") } }
    }
    store.submit(ticket: "last", context: nil) { try $0.set(Person(id: 1, name: "Grace")) }
    held.signal()
    try store.write { _ in }
    #expect(
      witness.notes.filter { $0 != "flush" } == [
        "none: none hold nobody", "1: 1 first Ada", "2: 2 last Grace",
      ])
    #expect(witness.notes.filter { $0 == "flush" }.count >= 2, "the flush began twice")
    #expect(failures.withLock { $0 } == ["Stop()"])
    store.close()
  }

  @Test func `writes without a ticket are told when they changed something`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let witness = Witness()
    store.addObserver(witness)
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    #expect(witness.notes.filter { $0 != "flush" } == ["1: 1 - Ada"])
  }

  @Test func `an observer is not retained, and several are told each`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let first = Witness()
    store.addObserver(first)
    weak var gone: Witness?
    do {
      let second = Witness()
      gone = second
      store.addObserver(second)
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      #expect(second.notes == first.notes)
    }
    try store.write { _ in }  // the writer lets go of what it told
    #expect(gone == nil)
    try store.write { try $0.set(Person(id: 1, name: "Grace")) }
    #expect(first.notes.last == "2: 2 - Grace")
  }

  @Test func `a write that can't be queued fails at once`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    store.close()
    let failure = Locked<(any Error)?>(nil)
    store.submit(ticket: "late", context: nil) { _ in
    } completion: { result in
      if case .failure(let error) = result { failure.withLock { $0 = error } }
    }
    #expect((failure.withLock { $0 } as? StoreError)?.code == .closed)
  }
}
