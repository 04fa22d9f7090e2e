import PandoFixtures
import PandoLMDB
import PandoSystem
import Synchronization
import Testing

/// Readers on many threads see exactly the contents of their own version.
@Suite struct ConcurrencyTests {
  /// What a table holds at each transaction number: key to value.
  final class History: Sendable {
    private let versions = Locked<[UInt64: [UInt16: [UInt8]]]>([:])

    subscript(transactionID: UInt64) -> [UInt16: [UInt8]]? {
      get { versions.withLock { $0[transactionID] } }
      set { versions.withLock { $0[transactionID] = newValue } }
    }
  }

  static let commitCount = 150
  static let readerCount = 4

  /// ```
  /// writer   commit 2 | grow, commit 3 | commit 4 | …
  /// reader 1 [2 …………] [waits] [3 …] [4 …
  /// reader 2    [2 ………] [waits] [4 ……………] …
  /// ```
  @Test(arguments: seeds(3))
  func `each read shows its own version while the map grows`(seed: UInt64) throws {
    try withEnvironment(GrowthTests.small) { environment in
      let table = try environment.table("t", keys: .uint16, values: .bytes)
      let history = History()
      history[try environment.statistics().lastTransactionID] = [:]
      let isDone = Atomic(false)
      let readCount = Atomic(0)
      try onThreads(1 + Self.readerCount) { thread in
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          try Self.write(environment, table, history, seed: seed)
          return
        }
        while !isDone.load(ordering: .acquiring) {
          try environment.read { try Self.check($0, table, history, seed: seed) }
          readCount.add(1, ordering: .relaxed)
        }
        // At least once after the last commit.
        try environment.read { try Self.check($0, table, history, seed: seed) }
      }
      #expect(try environment.statistics().mapSizeInBytes > 1 << 20)
    }
  }

  @Test func `a read waits for no write`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint16, values: .bytes)
      let isWriting = Event()
      let hasRead = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          try environment.write { transaction in
            try transaction.put([1], forKey: 1, in: table)
            isWriting.signal()
            hasRead.wait()
          }
        } else {
          defer { hasRead.signal() }
          isWriting.wait()
          #expect(try environment.read { try $0.count(of: table) } == 0)
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 1)
    }
  }

  private static func write(
    _ environment: Environment, _ table: Table<UInt16, [UInt8]>, _ history: History, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var contents: [UInt16: [UInt8]] = [:]
    for _ in 0..<commitCount {
      let changes = (0..<8).map { _ in
        let key = UInt16.random(in: 0..<300, using: &random)
        let count = Int.random(in: 0..<12_000, using: &random)
        return (key, [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count))
      }
      for (key, value) in changes { contents[key] = value.isEmpty ? nil : value }
      let after = contents
      try environment.write { transaction in
        for (key, value) in changes {
          if value.isEmpty {
            try transaction.delete(key: key, in: table)
          } else {
            try transaction.put(value, forKey: key, in: table)
          }
        }
        // Before the commit: no reader can see the version earlier than its history.
        history[transaction.transactionID] = after
      }
    }
  }

  private static func check(
    _ snapshot: Snapshot, _ table: Table<UInt16, [UInt8]>, _ history: History, seed: UInt64
  ) throws {
    let version = snapshot.transactionID
    let expected = try #require(history[version], "seed \(seed): version \(version)")
    let count = try snapshot.count(of: table)
    try #require(count == expected.count, "seed \(seed): version \(version)")
    try snapshot.scan(table) { entry in
      let (key, value) = (try entry.key, try entry.value)
      try #require(value == expected[key], "seed \(seed): version \(version), key \(key)")
      return true
    }
  }

  /// liblmdb 0.9.24 let a reader that was interrupted while it began copy the roots of a version two,
  /// four or five hundred commits newer than the number it gave: once in a million reads here.
  @Test func `a snapshot shows the version whose number it has`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint64)
      try environment.write { try $0.put($0.transactionID, forKey: 1, in: table) }
      let isDone = Atomic(false)
      try onThreads(5) { thread in
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          for _ in 0..<10_000 {
            try environment.write { try $0.put($0.transactionID, forKey: 1, in: table) }
          }
          return
        }
        while !isDone.load(ordering: .acquiring) {
          let (version, shown) = try environment.read { snapshot in
            (snapshot.transactionID, try snapshot.value(forKey: 1, in: table) ?? 0)
          }
          try #require(version == shown)
        }
      }
    }
  }

  @Test func `writers on many threads take turns`() throws {
    try withEnvironment(GrowthTests.small) { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint64)
      try environment.write { try $0.put(0, forKey: 0, in: table) }
      try onThreads(4) { thread in
        for _ in 0..<100 {
          try environment.write { transaction in
            let sum = try transaction.value(forKey: 0, in: table) ?? 0
            try transaction.put(sum + UInt64(thread) + 1, forKey: 0, in: table)
          }
        }
      }
      let sum = try environment.read { try $0.value(forKey: 0, in: table) ?? 0 }
      #expect(sum == 100 * (1 + 2 + 3 + 4))
    }
  }

  @Test func `tables are opened on many threads at once`() throws {
    try withEnvironment { environment in
      let opened = Locked<[String: Set<RawTable>]>([:])
      try onThreads(4) { _ in
        for number in 0..<30 {
          let name = "table \(number)"
          let table = try environment.rawTable(name)
          _ = opened.withLock { $0[name, default: []].insert(table) }
        }
      }
      #expect(opened.withLock { $0.values.allSatisfy { $0.count == 1 } })
      #expect(opened.withLock { Set($0.values.flatMap { $0 }).count } == 30)
    }
  }
}
