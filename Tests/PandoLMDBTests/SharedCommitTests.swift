import Dispatch
import PandoFixtures
import PandoLMDB
import PandoSystem
import Testing

/// Writes of several threads that share a commit.
@Suite struct SharedCommitTests {
  struct Refusal: Error {}

  /// An environment whose writes share commits, and how many wait.
  private static func withEnvironment(
    mapSizeInBytes: Int = 64 << 20, mapGrowthTimeoutInSeconds: Int? = nil,
    _ body: (Environment, Table<UInt64, [UInt8]>, DispatchSemaphore) throws -> Void
  ) throws {
    let queued = DispatchSemaphore(value: 0)
    var configuration = Environment.Configuration.forTests
    configuration.mapSizeInBytes = mapSizeInBytes
    configuration.sharesCommits = true
    if let mapGrowthTimeoutInSeconds {
      configuration.mapGrowthTimeoutInSeconds = mapGrowthTimeoutInSeconds
    }
    configuration.onEvent = { if $0 == .writeQueued { queued.signal() } }
    try PandoFixtures.withEnvironment(configuration) { environment in
      try body(environment, environment.table("t", keys: .uint64, values: .bytes), queued)
    }
  }

  /// Runs writes on threads of their own: the first begins, and goes on when the others wait.
  ///
  /// - Returns: How each has ended, and how often its closure has run.
  private static func run(
    _ environment: Environment, _ queued: DispatchSemaphore,
    _ bodies: [@Sendable (inout WriteTransaction) throws -> Void]
  ) throws -> (errors: [String?], runs: [Int]) {
    let mayBegin = bodies.map { _ in DispatchSemaphore(value: 0) }
    let ends = Locked<[String?]>(Array(repeating: nil, count: bodies.count))
    let runs = Locked(Array(repeating: 0, count: bodies.count))
    try onThreads(bodies.count) { number in
      if number > 0 { mayBegin[number].wait() }
      do {
        try environment.write { transaction in
          let isFirstRun = runs.withLock { runs in
            runs[number] += 1
            return runs[number] == 1
          }
          if number == 0, isFirstRun {
            for next in 1..<bodies.count {
              mayBegin[next].signal()
              queued.wait()
            }
          }
          try bodies[number](&transaction)
        }
      } catch {
        ends.withLock { $0[number] = "\(type(of: error))" }
      }
    }
    return (ends.withLock { $0 }, runs.withLock { $0 })
  }

  @Test func `writes that wait for one another become one commit`() throws {
    try Self.withEnvironment { environment, table, queued in
      let before = try environment.statistics().lastTransactionID
      let (errors, runs) = try Self.run(
        environment, queued,
        (0..<5).map { number in
          { transaction in
            // Each sees what those before it have written.
            #expect(try transaction.count(of: table) == number)
            try transaction.put([UInt8(number)], forKey: UInt64(number), in: table)
          }
        })
      #expect(errors == [nil, nil, nil, nil, nil])
      #expect(runs == [1, 1, 1, 1, 1])
      #expect(try environment.statistics().lastTransactionID == before + 1)
      #expect(try environment.read { try $0.count(of: table) } == 5)
    }
  }

  @Test func `a write that throws leaves nothing behind, and takes nobody with it`() throws {
    try Self.withEnvironment { environment, table, queued in
      let (errors, runs) = try Self.run(
        environment, queued,
        (0..<4).map { number in
          { transaction in
            try transaction.put([], forKey: UInt64(number), in: table)
            if number == 2 { throw Refusal() }
          }
        })
      #expect(errors == [nil, nil, "Refusal", nil])
      // The group has run again without it, and it by itself: its error rests on what is committed. The
      // last one had not begun before.
      #expect(runs == [2, 2, 2, 1])
      let keys = try environment.read { snapshot in
        try (0..<4).filter { try snapshot.contains(key: UInt64($0), in: table) }
      }
      #expect(keys == [0, 1, 3])
    }
  }

  @Test func `a nested transaction that throws does not take its group apart`() throws {
    try Self.withEnvironment { environment, table, queued in
      let (errors, runs) = try Self.run(
        environment, queued,
        [
          { try $0.put([], forKey: 0, in: table) },
          { transaction in
            try transaction.nested { inner in
              try inner.put([], forKey: 1, in: table)
            }
            try? transaction.nested { inner in
              try inner.put([], forKey: 2, in: table)
              throw Refusal()
            }
          },
        ])
      #expect(errors == [nil, nil])
      #expect(runs == [1, 1])
      #expect(try environment.read { try $0.count(of: table) } == 2)
    }
  }

  @Test func `a group that the map is too small for is written all the same`() throws {
    try Self.withEnvironment(mapSizeInBytes: 1 << 20) { environment, table, queued in
      let (errors, _) = try Self.run(
        environment, queued,
        (0..<4).map { number in
          { try $0.put([UInt8](repeating: 1, count: 400_000), forKey: UInt64(number), in: table) }
        })
      #expect(errors == [nil, nil, nil, nil])
      #expect(try environment.read { try $0.count(of: table) } == 4)
      #expect(try environment.statistics().mapSizeInBytes > 1 << 20)
    }
  }

  @Test func `a closure that shares a commit may read what was there before`() throws {
    try Self.withEnvironment { environment, table, queued in
      let (errors, _) = try Self.run(
        environment, queued,
        (0..<3).map { number in
          { transaction in
            try transaction.put([], forKey: UInt64(number), in: table)
            #expect(try environment.read { try $0.count(of: table) } == 0)
          }
        })
      #expect(errors == [nil, nil, nil])
    }
  }

  @Test(arguments: seeds(2))
  func `many threads that write, some of which throw, leave what they were told`(
    seed: UInt64
  ) throws {
    try Self.withEnvironment(mapSizeInBytes: 1 << 20) { environment, table, _ in
      let written = Locked<Set<UInt64>>([])
      try onThreads(8) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        for step in 0..<100 {
          let key = UInt64(thread * 1000 + step)
          let throwing = UInt64.random(in: 0..<20, using: &random) == 0
          let size = Int.random(in: 0..<3_000, using: &random)
          do {
            try environment.write { transaction in
              try transaction.put([UInt8](repeating: 7, count: size), forKey: key, in: table)
              if throwing { throw Refusal() }
            }
            // What has returned is there for every reader.
            #expect(try environment.read { try $0.contains(key: key, in: table) })
            written.withLock { _ = $0.insert(key) }
          } catch is Refusal {
            #expect(throwing)
          }
        }
      }
      let keys = try environment.read { snapshot in
        var keys: Set<UInt64> = []
        try snapshot.scan(table) { entry in
          keys.insert(try entry.key)
          return true
        }
        return keys
      }
      #expect(keys == written.withLock { $0 }, "seed \(seed)")
    }
  }

  /// A value larger than the map of these tests.
  private static let large = [UInt8](repeating: 1, count: 4 << 20)

  // A group ran on the thread of one of its writes. Where that one was inside a read, the map could not
  // grow for the others: they failed with `mapInUse` for a read that was not theirs.
  @Test func `a write inside a read does not keep another one from a larger map`() throws {
    try Self.withEnvironment(mapSizeInBytes: 1 << 20) { environment, table, _ in
      let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      try onThreads(2) { thread in
        if thread == 0 {
          try environment.read { _ in
            try environment.write { transaction in
              hasBegun.signal()
              mayGoOn.wait()
              try transaction.put([], forKey: 0, in: table)
            }
          }
        } else {
          hasBegun.wait()
          mayGoOn.signal()
          try environment.write { try $0.put(Self.large, forKey: 1, in: table) }
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 2)
    }
  }

  // It waited with its group for readers to end, of which it was one: until the timeout.
  @Test func `a write inside a read that needs a larger map fails alone and at once`() throws {
    try Self.withEnvironment(mapSizeInBytes: 1 << 20, mapGrowthTimeoutInSeconds: 1_000_000) {
      environment, table, _ in
      let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      try onThreads(2) { thread in
        if thread == 0 {
          try environment.write { transaction in
            hasBegun.signal()
            mayGoOn.wait()
            try transaction.put([], forKey: 0, in: table)
          }
        } else {
          hasBegun.wait()
          try environment.read { _ in
            mayGoOn.signal()
            let error = #expect(throws: LMDBError.self) {
              try environment.write { try $0.put(Self.large, forKey: 1, in: table) }
            }
            #expect(error?.code == .mapInUse)
          }
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 1)
    }
  }

  // The whole group waited for the map to grow for one of its writes.
  @Test func `a small write returns though one that shares its commit waits for a reader`() throws {
    try Self.withEnvironment(mapSizeInBytes: 1 << 20, mapGrowthTimeoutInSeconds: 1_000_000) {
      environment, table, queued in
      let reads = DispatchSemaphore(value: 0)
      let (hasBegun, hasReturned) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isFirstRun = Locked(true)
      try onThreads(3) { thread in
        switch thread {
        case 0:
          try environment.read { _ in
            reads.signal()
            hasReturned.wait()  // this read ends when the small write has returned, and not before
          }
        case 1:
          reads.wait()
          try environment.write { transaction in
            if isFirstRun.withLock({ exchange(&$0, with: false) }) {
              hasBegun.signal()
              queued.wait()
            }
            try transaction.put([], forKey: 0, in: table)
          }
          hasReturned.signal()
        default:
          hasBegun.wait()
          try environment.write { try $0.put(Self.large, forKey: 1, in: table) }
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 2)
    }
  }

  @TaskLocal private static var name = "none"

  // Closures ran on the leader's thread, with its task-local values, its stack and its actor.
  @Test func `a closure runs on its own thread, with its own task-local values`() throws {
    try Self.withEnvironment { environment, table, queued in
      let seen = Locked<[String: Bool]>([:])
      let isFirstRun = Locked(true)
      let mayBegin = DispatchSemaphore(value: 0)
      try onThreads(3) { thread in
        if thread > 0 { mayBegin.wait() }
        try Self.$name.withValue("\(thread)") {
          let own = currentThread()
          try environment.write { transaction in
            if thread == 0, isFirstRun.withLock({ exchange(&$0, with: false) }) {
              for _ in 1...2 {
                mayBegin.signal()
                queued.wait()
              }
            }
            let isOwn = currentThread() == own && Self.name == "\(thread)"
            seen.withLock { $0[Self.name] = isOwn }
            try transaction.put([], forKey: UInt64(thread), in: table)
          }
        }
      }
      #expect(seen.withLock { $0 } == ["0": true, "1": true, "2": true])
    }
  }

  @Test func `writes that come after a close are told so`() throws {
    try Self.withEnvironment { environment, table, _ in
      environment.close()
      try onThreads(3) { thread in
        #expect(throws: LMDBError.self) {
          try environment.write { try $0.put([], forKey: UInt64(thread), in: table) }
        }
      }
    }
  }
}
