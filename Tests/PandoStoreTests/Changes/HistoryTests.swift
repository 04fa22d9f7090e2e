import FoundationEssentials
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// A store that is put back by a backup counts on from there: numbers of what is lost are not taken for those that follow.
@Suite
struct HistoryTests {
  private func withRestoredStore(
    _ body: (_ restored: ModelStore, _ lost: CommitNumber, _ shared: CommitNumber) async throws ->
      Void
  ) async throws {
    try await withTemporaryDirectory { folder in
      let path = "\(folder)/store"
      let store = try ModelStore(path: path)
      try write(10, "Ada", to: store)
      _ = try store.cursor(named: "mailer")
      try store.copy(to: "\(folder)/backup")
      let shared = try await store.read { try $0.commitNumber }
      try write(10, "Bob", to: store)
      let lost = try await store.read { try $0.commitNumber }
      await store.close()
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.copyItem(atPath: "\(folder)/backup", toPath: path)
      let restored = try ModelStore(path: path)
      #expect(lost.value == 20 && shared.value == 10)
      try await body(restored, lost, shared)
      #expect(try restored.verify().problems == [])
      await restored.close()
    }
  }

  private func write(_ count: Int, _ name: String = "Eve", to store: ModelStore) throws {
    for id in 0..<count { try store.write { try $0.set(Person(id: id + 1, name: name)) } }
  }

  @Test(arguments: [0, 3, 10, 15])
  func `a commit that a restore took is expired, however far the store has come`(count: Int)
    async throws
  {
    try await withRestoredStore { store, lost, shared in
      try write(count, to: store)
      expectFailure(.changesExpired, "restored") {
        _ = try store.read { try $0.changes(since: lost) }
      }
      var live = store.changes(since: lost).makeAsyncIterator()
      await #expect(throws: StoreError.self) { _ = try await live.next() }
      #expect(try await store.read { try $0.changes(since: shared) }.count == count)
      let cursor = try store.cursor(named: "mailer")
      expectFailure(.changesExpired, "cursor mailer") { try cursor.acknowledge(lost) }
      #expect(try cursor.state.position == shared)
    }
  }

  @Test func `a version that a restore took is another one, also under the same number`()
    async throws
  {
    try await withRestoredStore { store, lost, shared in
      try write(10, to: store)
      let own = try store.read { try $0.lastCommit(of: "Person:10") }
      #expect(own?.value == lost.value && own != lost)
      expectFailure(.changedMeanwhile, "another history") {
        try store.write(expecting: ["Person:10": lost]) {
          try $0.set(Person(id: 10, name: "Zoe"))
        }
      }
      try store.write(expecting: ["Person:10": own]) { try $0.set(Person(id: 10, name: "Zoe")) }
    }
  }

  @Test func `numbers from before the backup stay valid`() async throws {
    try await withRestoredStore { store, lost, shared in
      let known = try store.read { try $0.lastCommit(of: "Person:10") }
      #expect(known == shared)
      try store.write(expecting: ["Person:10": shared]) { try $0.set(Person(id: 10, name: "Eve")) }
      let changes = try store.read { try $0.changes(since: shared) }
      #expect(changes.map(\.updated) == [["Person:10"]])
      #expect(changes.map(\.commitNumber) == [try store.read { try $0.commitNumber }])
      #expect(changes[0].commitNumber.history != shared.history)
    }
  }

  @Test func `a store that is only opened again goes on`() throws {
    try withTemporaryDirectory { path in
      var known: [CommitNumber] = [.zero]
      for id in 1...5 {
        let store = try ModelStore(path: path)
        let commit = try store.commit { try $0.set(Person(id: id, name: "Ada")) }
        known.append(try #require(commit.changeSet).commitNumber)
        for (index, number) in known.enumerated() {
          let changes = try store.read { try $0.changes(since: number) }
          #expect(changes.map(\.commitNumber) == Array(known.dropFirst(index + 1)))
        }
        store.close()
      }
      #expect(Set(known.map(\.history)).count == 6)
    }
  }

  @Test func `a write that fails begins no history`() throws {
    struct No: Error {}
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path)
      try store.write { try $0.set(Person(id: 1, name: "Ada")) }
      store.close()
      let again = try ModelStore(path: path)
      let before = try again.read { try $0.commitNumber }
      #expect(throws: No.self) {
        try again.write { transaction in
          try transaction.set(Person(id: 2, name: "Bob"))
          throw No()
        }
      }
      #expect(try again.read { try $0.commitNumber } == before)
      let commit = try again.commit { try $0.set(Person(id: 2, name: "Bob")) }
      #expect(commit.changeSet?.commitNumber == (try again.read { try $0.commitNumber }))
      #expect(try again.read { try $0.changes(since: before) }.count == 1)
      again.close()
    }
  }

  @Test func `a store loaded from a dump refuses numbers of the other one`() throws {
    try withTemporaryDirectory { folder in
      let store = try ModelStore(path: "\(folder)/store")
      try write(3, to: store)
      let known = try store.read {
        (try $0.commitNumber, try $0.lastCommit(of: "Person:3"))
      }
      var lines: [String] = []
      try store.dump { lines.append($0) }
      store.close()
      let loaded = try ModelStore(path: "\(folder)/loaded")
      let left = Locked(lines[...])
      _ = try loaded.load { left.withLock { $0.popFirst() } }
      #expect(try loaded.read { try $0.commitNumber }.value == known.0.value)
      expectFailure(.changesExpired, "another history") {
        _ = try loaded.read { try $0.changes(since: known.0) }
      }
      expectFailure(.changedMeanwhile, "another history") {
        try loaded.write(expecting: ["Person:3": known.1]) {
          _ = try $0.deleteIfPresent("Person:3")
        }
      }
      loaded.close()
    }
  }

  @Test func `a number without a history is taken for the store's own`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path)
      try write(3, to: store)
      let changes = try store.read { try $0.changes(since: CommitNumber(value: 2)) }
      #expect(changes.map(\.commitNumber.value) == [3])
      try store.write(expecting: ["Person:3": CommitNumber(value: 3)]) {
        _ = try $0.deleteIfPresent("Person:3")
      }
      expectFailure(.changesExpired, "the newest is commit 4") {
        _ = try store.read { try $0.changes(since: CommitNumber(value: 5)) }
      }
      store.close()
    }
  }

  @Test func `the older of many histories become one, whose numbers are refused`() throws {
    var histories = Histories()
    for first in 1...UInt64(Histories.countMaximum + 10) { histories.begin(first << 32, at: first) }
    #expect(histories.parts.count == Histories.countMaximum)
    #expect(histories.number(1) == CommitNumber(value: 1, history: 1 << 32))
    let joined = histories.number(2).history
    for value in UInt64(2)...12 {
      #expect(histories.number(value).history == joined)
      #expect(joined != 0 && joined != value << 32 && joined != 1 << 32)
    }
    #expect(histories.number(13) == CommitNumber(value: 13, history: 13 << 32))
    #expect(try Histories(histories.bytes.span) == histories)
    // The commits of the last one are gone.
    histories.begin(7, at: 500)
    #expect(histories.number(499).history == 499 << 32 && histories.number(500).history == 7)
    #expect(histories.number(600).history == 7)
  }

  /// Fixed: the commits of the second history were taken for ones of the first, as those that the restore took were.
  @Test func `a commit that a restore took stays expired behind many openings`() throws {
    try withTemporaryDirectory { folder in
      let path = "\(folder)/store"
      let store = try ModelStore(path: path)
      try write(5, to: store)
      try store.copy(to: "\(folder)/backup")
      try write(10, "Ada", to: store)
      let lost = try store.read { try $0.commitNumber }
      store.close()
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: "\(folder)/backup", toPath: path)
      let restored = try ModelStore(path: path)
      try write(10, "Bob", to: restored)
      restored.close()
      let again = try ModelStore(path: path)
      defer { again.close() }
      // As so many openings do.
      for id in 0...Histories.countMaximum {
        try again.write { transaction in
          var histories = try transaction.session.reading { try $0.histories() }
          histories.begin(Histories.newMark(), at: transaction.session.nextCommitNumber)
          try transaction.session.put(histories)
          try transaction.set(Person(id: 100 + id % 2, name: "\(id)"))
        }
      }
      expectFailure(.changesExpired, "another history") {
        _ = try again.read { try $0.changes(since: lost) }
      }
      expectFailure(.changedMeanwhile, "another history") {
        try again.write(expecting: ["Person:10": lost]) { try $0.set(Person(id: 10, name: "Zoe")) }
      }
    }
  }
}
