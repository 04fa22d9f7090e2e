import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// The sequence of commits, as they happen.
@Suite struct StoreChangesTests {
  private func leaf(_ id: Int, _ value: Int = 0) -> TreeNode {
    TreeNode("leaf:\(id)", type: "Leaf", fields: ["value": .integer(Int64(value))])
  }

  private func open(_ path: String, limit: Int = 10_000) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.changeLogLimit = limit
    return try ModelStore(path: path, configuration: configuration)
  }

  @Test func `each commit of any process comes once and in order`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      let other = try OtherProcess(path)
      for id in 0..<3 { try await store.write { try $0.set(leaf(id)) } }
      let changes = store.changes(since: CommitNumber(value: 1))
      let reader = Task {
        var numbers: [UInt64] = []
        for try await change in changes {
          numbers.append(change.commitNumber.value)
          if numbers.count == 122 { break }
        }
        return numbers
      }
      // Nobody waits between the writes of the tasks.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            for id in 0..<25 { try await store.write { try $0.set(leaf(100 * task + id, 1)) } }
          }
        }
        group.addTask { try other.perform("rename 9 20") }
        try await group.waitForAll()
      }
      #expect(try await reader.value == Array(2...123))
      other.end()
      await store.close()
    }
  }

  @Test func `without a number it begins behind what is committed when it is made`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      try await store.write { try $0.set(leaf(1)) }
      let changes = store.changes()
      try await store.write { try $0.set(leaf(2)) }
      try await store.write { try $0.deleteIfPresent("leaf:1") }
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next()?.inserted == ["leaf:2"])
      #expect(try await iterator.next()?.deleted == ["leaf:1"])
      await store.close()
    }
  }

  @Test func `another process that waits is woken by a commit`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      let other = try OtherProcess(path)
      var iterator = store.changes().makeAsyncIterator()
      for round in 1...5 {
        try other.perform("set 1 Ada\(round)")
        #expect(try await iterator.next()?.commitNumber.value == UInt64(round))
      }
      other.end()
      await store.close()
    }
  }

  @Test func `a read-only store receives commits of other processes`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      try await store.write { try $0.set(leaf(1)) }
      await store.close()
      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      let reading = try ModelStore(path: path, configuration: configuration)
      let other = try OtherProcess(path)
      var iterator = reading.changes().makeAsyncIterator()
      try other.perform("set 1 Ada")
      #expect(try await iterator.next()?.inserted == ["Person:1"])
      other.end()
      await reading.close()
    }
  }

  @Test func `the sequence ends when the store is closed, or the task cancelled`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      let (begun, begin) = AsyncStream<Void>.makeStream()
      let readers = (0..<4).map { _ in
        Task {
          var count = 0
          var iterator = store.changes(since: .zero).makeAsyncIterator()
          while try await iterator.next() != nil {
            count += 1
            begin.yield()
          }
          return count
        }
      }
      try await store.write { try $0.set(leaf(1)) }
      var all = begun.makeAsyncIterator()
      for _ in readers { await all.next() }
      readers[0].cancel()
      readers[1].cancel()
      for reader in readers[..<2] { #expect(try await reader.value == 1) }
      await store.close()
      for reader in readers[2...] { #expect(try await reader.value == 1) }
      var late = store.changes(since: .zero).makeAsyncIterator()
      #expect(try await late.next() == nil)
    }
  }

  @Test func `a reader that falls behind the change log gets an error`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path, limit: 5)
      var iterator = store.changes(since: .zero).makeAsyncIterator()
      try await store.write { try $0.set(leaf(0)) }
      #expect(try await iterator.next()?.commitNumber.value == 1)
      for id in 1..<20 { try await store.write { try $0.set(leaf(id)) } }
      let error = await #expect(throws: StoreError.self) { _ = try await iterator.next() }
      #expect(error?.code == .changesExpired)
      #expect(
        error?.description.hasPrefix("commit 1: the change log begins at commit 16") == true)
      // It goes on behind what was read afresh.
      var again = store.changes(since: CommitNumber(value: 18)).makeAsyncIterator()
      #expect(try await again.next()?.commitNumber.value == 19)
      await store.close()
    }
  }

  @Test func `records come as of the newest commit, and say of which`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      try await store.write { try $0.set(leaf(1, 1)) }
      try await store.write { transaction in
        try transaction.set(leaf(1, 2))
        try transaction.set(leaf(2, 2))
      }
      try await store.write { try $0.deleteIfPresent("leaf:2") }
      var iterator = store.changes(since: .zero, values: true).makeAsyncIterator()
      for _ in 1...2 {
        let records = try await iterator.next()?.records
        #expect(records?.map(\.node) == [leaf(1, 2)])
        #expect(records?.map(\.commitNumber.value) == [3])
      }
      #expect(try await iterator.next()?.records.isEmpty == true)
      var without = store.changes(since: .zero).makeAsyncIterator()
      #expect(try await without.next()?.records.isEmpty == true)
      _ = try store.setRetention(keepsRecords: true)
      try await store.write { try $0.set(leaf(1, 4)) }
      try await store.write { try $0.set(leaf(1, 5)) }
      for value in 4...5 {
        let records = try await iterator.next()?.records
        #expect(records?.map(\.node) == [leaf(1, value)])
        #expect(records?.map(\.commitNumber.value) == [UInt64(value)])
      }
      await store.close()
    }
  }

  @Test func `records are read when they are taken`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      for id in 1...3 { try await store.write { try $0.set(leaf(id)) } }
      var iterator = store.changes(since: .zero, values: true).makeAsyncIterator()
      _ = try await iterator.next()
      // Was: read with the first of 256 commits, and all of them held.
      try await store.write { try $0.set(leaf(2, 7)) }
      let records = try await iterator.next()?.records
      #expect(records?.map(\.node) == [leaf(2, 7)])
      #expect(records?.map(\.commitNumber.value) == [4])
      await store.close()
    }
  }

  @Test func `a record with many children is read back with all of them`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      _ = try store.setRetention(keepsRecords: true)
      let leaves = (0..<3000).map { leaf($0) }
      let parent = TreeNode(
        "parent", type: "Parent", fields: ["leaves": .array(leaves.reversed().map { .node($0) })])
      try await store.write { try $0.set(parent) }
      var iterator = store.changes(since: .zero, values: true).makeAsyncIterator()
      let record = try await iterator.next()?.records.first { $0.node.typeName == "Parent" }
      #expect(
        record?.node["leaves"]?.arrayValue
          == leaves.reversed().map { .reference(identifier: $0.identifier, typeName: "Leaf") })
      await store.close()
    }
  }

  @Test func `many commits are read in parts`() async throws {
    try await withTemporaryDirectory { path in
      let store = try open(path)
      for id in 0..<600 { try await store.write { try $0.set(leaf(id)) } }
      var iterator = store.changes(since: .zero).makeAsyncIterator()
      for number in 1...600 {
        #expect(try await iterator.next()?.commitNumber.value == UInt64(number))
      }
      await store.close()
    }
  }
}
