import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// Named places in the change log.
@Suite struct ChangeCursorTests {
  private func leaf(_ id: Int) -> TreeNode { TreeNode("leaf:\(id)", type: "Leaf") }

  private func open(
    _ path: String, limit: Int = 5, cursorLimit: Int = 100
  ) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.changeLogLimit = limit
    configuration.changeLogLimitForCursors = cursorLimit
    return try ModelStore(path: path, configuration: configuration)
  }

  @Test func `a cursor continues after its last acknowledgement when reopened`() async throws {
    try await withTemporaryDirectory { path in
      var store = try open(path)
      try await store.write { try $0.set(leaf(0)) }
      var cursor = try store.cursor(named: "mailer")
      for id in 1...3 { try await store.write { try $0.set(leaf(id)) } }
      var iterator = cursor.changes().makeAsyncIterator()
      #expect(try await iterator.next()?.commitNumber.value == 2)
      try await cursor.acknowledge(CommitNumber(value: 2))
      #expect(try await iterator.next()?.commitNumber.value == 3)
      await store.close()

      store = try open(path)
      cursor = try store.cursor(named: "mailer", startingAfter: .zero)
      #expect(try cursor.state.position.value == 2)
      iterator = cursor.changes().makeAsyncIterator()
      #expect(try await iterator.next()?.commitNumber.value == 3)
      #expect(try await iterator.next()?.commitNumber.value == 4)
      // An earlier commit than before changes nothing.
      try await cursor.acknowledge(CommitNumber(value: 1))
      #expect(try cursor.state.position.value == 2)
      #expect(try store.cursors().map(\.name) == ["mailer"])
      #expect(try store.verify().problems == [])
      await store.close()
    }
  }

  @Test func `the log keeps what a cursor needs, up to a bound`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path, limit: 5, cursorLimit: 20)
      let slow = try store.cursor(named: "slow")
      let fast = try store.cursor(named: "fast")
      for id in 1...15 {
        try await store.write { try $0.set(leaf(id)) }
        try await fast.acknowledge(CommitNumber(value: UInt64(id)))
      }
      #expect(try store.statistics().changeLogCount == 15)
      var iterator = slow.changes().makeAsyncIterator()
      for number in 1...10 {
        #expect(try await iterator.next()?.commitNumber.value == UInt64(number))
      }
      try await slow.acknowledge(CommitNumber(value: 10))
      try await store.write { try $0.set(leaf(16)) }
      #expect(try store.statistics().changeLogCount == 6)
      for id in 17...30 { try await store.write { try $0.set(leaf(id)) } }
      #expect(try store.statistics().changeLogCount == 20)
      // One more than the bound: from then on the slow one is lost, and holds nothing.
      for id in 31...40 { try await store.write { try $0.set(leaf(id)) } }
      try await fast.acknowledge(CommitNumber(value: 40))
      try await store.write { try $0.set(leaf(41)) }
      #expect(try store.statistics().changeLogCount == 5)
      let error = await #expect(throws: StoreError.self) {
        var late = slow.changes().makeAsyncIterator()
        _ = try await late.next()
      }
      #expect(error?.code == .changesExpired)
      #expect(error?.description.hasPrefix("cursor slow: commit 11 comes next and") == true)
      // It begins anew behind what was read afresh.
      try await slow.acknowledge(store.read { try $0.commitNumber })
      try await store.write { try $0.set(leaf(42)) }
      var again = slow.changes().makeAsyncIterator()
      #expect(try await again.next()?.commitNumber.value == 42)
      #expect(try store.verify().problems == [])
      await store.close()
    }
  }

  @Test(arguments: [0, 5])
  func `a cursor that stands still takes nothing from what is kept in any case`(
    cursorLimit: Int
  ) async throws {
    try await withTemporaryDirectory { path in
      // Was: with fewer commits for cursors than for all, the log was cut to the smaller number.
      let store = try open(path, limit: 50, cursorLimit: cursorLimit)
      _ = try store.cursor(named: "stalled")
      for id in 0..<120 {
        try await store.write { try $0.set(leaf(id)) }
        #expect(try store.statistics().changeLogCount == min(id + 1, 50))
      }
      await store.close()
    }
  }

  @Test func `rows written in the acknowledging write are there exactly once`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      let cursor = try store.cursor(named: "index")
      try await store.write { try $0.set(leaf(1)) }
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await store.write { transaction in
          try transaction.setProperty("indexed", to: [1])
          try transaction.acknowledge(CommitNumber(value: 1), cursor: "index")
          throw Stop()
        }
      }
      #expect(try cursor.state.position.value == 0)
      #expect(try await store.read { try $0.property("indexed") } == nil)
      try await store.write { transaction in
        try transaction.setProperty("indexed", to: [1])
        try transaction.acknowledge(CommitNumber(value: 1), cursor: "index")
      }
      #expect(try cursor.state.position.value == 1)
      // That was no commit that anybody is told of.
      #expect(try await store.read { try $0.commitNumber.value } == 1)
      await store.close()
    }
  }

  @Test func `a mistake with a cursor is an error that names it`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      for name in ["", String(repeating: "x", count: 401)] {
        expectFailure(.emptyIdentifier, "1 to 400 bytes, this one has \(name.count)") {
          _ = try store.cursor(named: name)
        }
      }
      expectFailure(.changesExpired, "commit 700 does not exist, the newest is commit 0") {
        _ = try store.cursor(named: "a", startingAfter: CommitNumber(value: 700))
      }
      let cursor = try store.cursor(named: "a")
      #expect(try cursor.state.position.value == 0)
      expectFailure(.changesExpired, "cursor a: commit 7 does not exist, the newest is commit 0") {
        try cursor.acknowledge(CommitNumber(value: 7))
      }
      #expect(try store.removeCursor(named: "a"))
      #expect(try !store.removeCursor(named: "a"))
      expectFailure(.noSuchCursor, "cursor a: there is none") {
        try cursor.acknowledge(CommitNumber(value: 0))
      }
      expectFailure(.noSuchCursor, "cursor a: there is none") { _ = try cursor.state }
      let error = await #expect(throws: StoreError.self) {
        var iterator = cursor.changes().makeAsyncIterator()
        _ = try await iterator.next()
      }
      #expect(error?.code == .noSuchCursor)
      _ = try store.cursor(named: "b")
      await store.close()

      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      let reading = try ModelStore(path: path, configuration: configuration)
      expectFailure(.readOnly, "opened for reading only") {
        _ = try reading.cursor(named: "c")
      }
      let known = try reading.cursor(named: "b")
      expectFailure(.readOnly, "opened for reading only") {
        try known.acknowledge(CommitNumber(value: 0))
      }
      await reading.close()
    }
  }

  @Test func `consumers that work at once lose nothing and see nothing twice`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path, limit: 3, cursorLimit: 10_000)
      let count: UInt64 = 200
      let names = (0..<3).map { "consumer \($0)" }
      for name in names { _ = try store.cursor(named: name) }
      try await withThrowingTaskGroup(of: [UInt64].self) { group in
        for name in names {
          group.addTask {
            // It ends now and then, and begins anew where it has acknowledged.
            let cursor = try store.cursor(named: name)
            var seen: [UInt64] = []
            while seen.last != count {
              for try await change in cursor.changes() {
                seen.append(change.commitNumber.value)
                try await cursor.acknowledge(change.commitNumber)
                if seen.count.isMultiple(of: 7) || change.commitNumber.value == count { break }
              }
            }
            return seen
          }
        }
        group.addTask {
          for id in 0..<Int(count) { try await store.write { try $0.set(leaf(id)) } }
          return Array(1...count)
        }
        for try await seen in group { #expect(seen == Array(1...count)) }
      }
      try await store.write { try $0.set(leaf(-1)) }
      #expect(try store.statistics().changeLogCount == 3)
      #expect(try store.verify().problems == [])
      await store.close()
    }
  }
}
