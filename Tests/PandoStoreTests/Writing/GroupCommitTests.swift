import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// Writes that queue while a flush is under way share the next one, with those that queue while they run.
@Suite(.overBothBackings) struct GroupCommitTests {
  private struct Stop: Error {}

  private func leaf(_ id: Int, _ text: String = "") -> TreeNode {
    TreeNode(
      "leaf:\(id)", type: "Leaf", fields: ["id": .integer(Int64(id)), "text": .string(text)])
  }

  @Test func `queued writes share a flush and keep results, numbers and change sets of their own`()
    throws
  {
    let store = try ModelStore.forTest()
    let told = Locked<[UInt64]>([])
    store.setCommitHandler { changeSet in told.withLock { $0.append(changeSet.commitNumber.value) }
    }
    let queue = try WriteQueue(store)
    for id in 0..<20 { try queue.submit(context: id) { try $0.set(leaf(id)) } }
    let outcomes = queue.run()
    for (id, outcome) in outcomes.enumerated() {
      let changeSet = try #require(try outcome.get())
      #expect(changeSet.commitNumber.value == UInt64(id + 1))
      #expect(changeSet.inserted == ["leaf:\(id)"])
      #expect(changeSet.context as? Int == id)
    }
    #expect(told.value == Array(1...20))
    #expect(store.counters.writes == 20)
    #expect(store.counters.flushes == 1, "the write that held the queue up takes all along")
    #expect(
      try store.read { try $0.changes(since: .zero) }.map(\.commitNumber.value) == Array(1...20))
    #expect(try store.verify().problems == [])
  }

  @Test func `a write that throws after it has changed rows does not hurt its neighbours`() throws {
    let store = try ModelStore.forTest()
    let queue = try WriteQueue(store)
    let runs = Locked([0, 0, 0, 0, 0])
    for id in 0..<5 {
      try queue.submit { transaction in
        runs.withLock { $0[id] += 1 }
        try transaction.set(leaf(id))
        if id % 2 == 1 { throw Stop() }
      }
    }
    let outcomes = queue.run()
    #expect(throws: Stop.self) { try outcomes[1].get() }
    #expect(throws: Stop.self) { try outcomes[3].get() }
    let numbers = try [0, 2, 4].map { try outcomes[$0].get()?.commitNumber.value }
    #expect(numbers == [1, 2, 3])
    #expect(try store.read { try $0.identifiers() } == ["leaf:0", "leaf:2", "leaf:4"])
    #expect(runs.value[0] == 3, "once for each neighbour that spoilt the flush, and once more")
    #expect(store.counters.failedWrites == 2)
    #expect(try store.verify().problems == [])
  }

  @Test func `a write that throws before it has changed rows costs its neighbours nothing`() throws
  {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(leaf(9)) }
    let queue = try WriteQueue(store)
    let runs = Locked(0)
    try queue.submit { transaction in
      runs.withLock { $0 += 1 }
      try transaction.set(leaf(0))
    }
    try queue.submit { _ in throw Stop() }
    let outcomes = queue.run()
    #expect(try outcomes[0].get()?.commitNumber.value == 2)
    #expect(throws: Stop.self) { try outcomes[1].get() }
    #expect(runs.value == 1)
  }

  @Test func `a write sees the number of the write before it, and its changes`() throws {
    // Was: the number of the last flush, because the row is written once per flush.
    let store = try ModelStore.forTest()
    let seen = Locked<[UInt64]>([])
    let logged = Locked<[Int]>([])
    let queue = try WriteQueue(store)
    for id in 0..<3 {
      try queue.submit { transaction in
        let number = try transaction.snapshot.commitNumber.value
        let changes = try transaction.snapshot.changes(since: .zero)
        seen.withLock { $0.append(number) }
        logged.withLock { $0.append(changes.count) }
        try transaction.set(leaf(id))
      }
    }
    for outcome in queue.run() { _ = try outcome.get() }
    #expect(seen.value == [0, 1, 2])
    #expect(logged.value == [0, 1, 2])
  }

  @Test func `a write that changes nothing takes no number`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(leaf(0)) }
    let told = Locked(0)
    store.setCommitHandler { _ in told.withLock { $0 += 1 } }
    let queue = try WriteQueue(store)
    try queue.submit { try $0.set(leaf(0)) }
    try queue.submit { try $0.set(leaf(1)) }
    try queue.submit { _ in }
    let numbers = try queue.run().map { try $0.get()?.commitNumber.value }
    #expect(numbers == [nil, 2, nil])
    #expect(told.value == 1)
  }

  @Test func `a flush takes no more writes than the limit`() throws {
    let store = try ModelStore.forTest()
    // Its own write is the first of the flush.
    let queue = try WriteQueue(store)
    let count = GroupCommit.writesPerCommitMaximum + 100
    for id in 0..<count { try queue.submit { try $0.set(leaf(id)) } }
    let outcomes = queue.run()
    for (id, outcome) in outcomes.enumerated() {
      #expect(try outcome.get()?.commitNumber.value == UInt64(id + 1))
    }
    #expect(outcomes.count == count)
    #expect(store.counters.flushes == 2)
  }

  /// Writes nothing until the store's own thread has come to rest, so that this one writes alone.
  private func letWriterRest(_ store: ModelStore) throws {
    while try store.write({ _ in currentThread() }) != currentThread() {}
  }

  @Test func `a lone write runs the closure and the handler on the calling thread`() throws {
    let store = try ModelStore.forTest()
    try letWriterRest(store)
    let threads = Locked<[UInt]>([])
    @Sendable func note() { threads.withLock { $0.append(currentThread()) } }
    store.setCommitHandler { _ in note() }
    for number in 0..<3 {
      try store.write { transaction in
        note()
        try transaction.set(leaf(number))
      }
    }
    #expect(threads.value == Array(repeating: currentThread(), count: 6))
  }

  @Test func `writes queued during a lone write come next, on the store's thread`() throws {
    let store = try ModelStore.forTest()
    let writer = try #require(store.writer)
    let threads = Locked<Set<UInt>>([])
    let numbers = Locked<[UInt64]>([])
    let last = Event()
    try store.write { try $0.set(leaf(0)) }
    try letWriterRest(store)
    let flushCount = store.counters.flushes
    try store.write { transaction in
      for id in 2..<6 {
        let job = WriteJob(
          context: nil,
          body: { transaction in
            _ = threads.withLock { $0.insert(currentThread()) }
            try transaction.set(leaf(id))
          }
        ) { result in
          let number = try? result.get()?.commitNumber.value
          numbers.withLock { $0.append(number ?? 0) }
          if id == 5 { last.signal() }
        }
        try writer.submit(job)
      }
      try transaction.set(leaf(1))
    }
    last.wait()
    #expect(numbers.value == [3, 4, 5, 6])
    #expect(threads.value.count == 1)
    #expect(!threads.value.contains(currentThread()))
    #expect(store.counters.flushes == flushCount + 2, "the four share one")
  }

  @Test func `one closure runs at a time, and each is answered, however many write`() throws {
    let store = try ModelStore.forTest()
    let running = Locked(0)
    let told = Locked<[UInt64]>([])
    store.setCommitHandler { changeSet in told.withLock { $0.append(changeSet.commitNumber.value) }
    }
    try onThreads(4) { thread in
      for step in 0..<50 {
        let isRefused = step % 5 == thread
        do {
          try store.write { transaction in
            let others = running.withLock { count in
              count += 1
              return count - 1
            }
            defer { running.withLock { $0 -= 1 } }
            #expect(others == 0)
            try transaction.set(leaf(thread * 100 + step))
            if isRefused { throw Stop() }
          }
          #expect(!isRefused)
        } catch is Stop {
          #expect(isRefused)
        }
      }
    }
    #expect(told.value == Array(1...160))
    #expect(try store.read { try $0.count() } == 160)
    #expect(try store.verify().problems == [])
  }

  @Test func `many threads and tasks write at once`() async throws {
    let store = try ModelStore.forTest()
    let told = Locked<[UInt64]>([])
    store.setCommitHandler { changeSet in told.withLock { $0.append(changeSet.commitNumber.value) }
    }
    let numbers = Locked<Set<UInt64>>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for step in 0..<10 {
            let id = task * 10 + step
            do {
              let commit = try await store.commit { transaction -> Int in
                try transaction.set(leaf(id))
                if id % 7 == 3 { throw Stop() }
                return id
              }
              #expect(commit.result == id)
              #expect(commit.changeSet?.inserted == ["leaf:\(id)"])
              if let number = commit.changeSet?.commitNumber.value {
                #expect(numbers.withLock { $0.insert(number).inserted })
              }
            } catch is Stop {
              #expect(id % 7 == 3)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let stored = (0..<160).filter { $0 % 7 != 3 }
    #expect(numbers.value == Set((1...stored.count).map { UInt64($0) }))
    #expect(told.value == (1...stored.count).map { UInt64($0) })
    #expect(try await store.read { try $0.count() } == stored.count)
    #expect(store.counters.writes == stored.count)
    #expect(try store.verify().problems == [])
  }
}
