import Glibc
import PandoFixtures
import PandoSystem
import Synchronization
import Testing

@testable import PandoLMDB

@Suite struct GrowthTests {
  static var small: Environment.Configuration {
    var configuration = Environment.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 64 << 20
    return configuration
  }

  static let value = [UInt8](repeating: 5, count: 10_000)

  /// Writes about this many megabytes in one transaction.
  static func fill(
    _ environment: Environment, _ table: Table<UInt32, [UInt8]>, megabytes: Int
  ) throws -> Int {
    var runs = 0
    try environment.write { transaction in
      runs += 1
      for key in 0..<UInt32(megabytes * 100) { try transaction.put(value, forKey: key, in: table) }
    }
    return runs
  }

  @Test func `a full map grows and the closure runs again`() throws {
    let grown = Locked<[Int]>([])
    var configuration = Self.small
    configuration.onEvent = { event in
      if case .mapGrown(let size) = event { grown.withLock { $0.append(size) } }
    }
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let runs = try Self.fill(environment, table, megabytes: 5)
      #expect(runs == 4)
      #expect(grown.withLock { $0 } == [2 << 20, 4 << 20, 8 << 20])
      #expect(try environment.read { try $0.count(of: table) } == 500)
      #expect(try environment.statistics().mapSizeInBytes == 8 << 20)
    }
  }

  @Test func `a map at its maximum is an error and stored values stay`() throws {
    var configuration = Self.small
    configuration.maximumMapSizeInBytes = 3 << 20
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      #expect(try Self.fill(environment, table, megabytes: 1) == 2)
      let error = expectError(.mapFull) {
        _ = try Self.fill(environment, table, megabytes: 5)
      }
      #expect(error?.detail == "it may not grow above 3145728 bytes")
      #expect(try environment.read { try $0.count(of: table) } == 100)
      try environment.write { try $0.delete(key: 0, in: table) }
      #expect(try environment.read { try $0.count(of: table) } == 99)
    }
  }

  @Test func `an error that hides the full map grows it all the same`() throws {
    struct Hidden: Error {}
    try withEnvironment(Self.small) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { transaction in
        for key in UInt32(0)..<300 {
          do {
            try transaction.put(Self.value, forKey: key, in: table)
          } catch {
            throw Hidden()
          }
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 300)
    }
  }

  @Test func `a nested transaction that fills the map grows it`() throws {
    try withEnvironment(Self.small) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { transaction in
        do {
          try transaction.nested { inner in
            for key in UInt32(0)..<300 { try inner.put(Self.value, forKey: key, in: table) }
          }
        } catch {
          // Swallowed; the closure runs again with a larger map and does not come here.
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 300)
    }
  }

  @Test func `growth waits for readers that read on undisturbed`() throws {
    try withEnvironment(Self.small) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { try $0.put(Self.value, forKey: 0, in: table) }
      let isReading = Event()
      let isFull = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          isReading.wait()
          var runs = 0
          try environment.write { transaction in
            runs += 1
            do {
              for key in UInt32(1)..<200 { try transaction.put(Self.value, forKey: key, in: table) }
            } catch {
              isFull.signal()
              throw error
            }
          }
          #expect(runs > 1)
        } else {
          try environment.read { snapshot in
            isReading.signal()
            isFull.wait()
            // The writer wants to grow the map now; this reader must not lose its own.
            for _ in 0..<200 {
              let value = try snapshot.value(forKey: 0, in: table)
              #expect(value == Self.value)
              // A reader inside a reader passes the gate, or it would wait for itself.
              #expect(try environment.read { try $0.count(of: table) } == 1)
            }
          }
        }
      }
      #expect(try environment.read { try $0.count(of: table) } == 200)
    }
  }

  @Test func `a read that begins while the map waits to grow waits too, and then reads`() throws {
    try withEnvironment(Self.small) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let readers = environment.readers
      let isReading = Event()
      let isClosed = Event()
      let order = Locked<[String]>([])
      try onThreads(3) { thread in
        switch thread {
        case 0:
          try environment.read { _ in
            isReading.signal()
            while readers.gate.load(ordering: .sequentiallyConsistent) == ReaderPool.Gate.open {
              sched_yield()
            }
            isClosed.signal()
            // Until the other one waits, or has read though it should have waited.
            while readers.state.withLock({ $0.waiting.isEmpty })
              && order.withLock({ $0.isEmpty })
            {
              sched_yield()
            }
            order.withLock { $0.append("the first one ends") }
          }
        case 1:
          isReading.wait()
          _ = try Self.fill(environment, table, megabytes: 3)
        default:
          isClosed.wait()
          try environment.read { _ in order.withLock { $0.append("the second one reads") } }
        }
      }
      #expect(order.withLock { $0 } == ["the first one ends", "the second one reads"])
      #expect(try environment.read { try $0.count(of: table) } == 300)
    }
  }

  @Test func `readers that do not end are an error, not a hang`() throws {
    var configuration = Self.small
    configuration.mapGrowthTimeoutInSeconds = 0
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let isReading = Event()
      let isOver = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          isReading.wait()
          expectError(.mapInUse) { _ = try Self.fill(environment, table, megabytes: 3) }
          // The gate is open again.
          #expect(try environment.read { try $0.count(of: table) } == 0)
          isOver.signal()
        } else {
          try environment.read { _ in
            isReading.signal()
            isOver.wait()
          }
        }
      }
      _ = try Self.fill(environment, table, megabytes: 3)
      #expect(try environment.read { try $0.count(of: table) } == 300)
    }
  }

  @Test func `a write inside a read works until it needs a larger map`() throws {
    try withEnvironment(Self.small) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.read { snapshot in
        try environment.write { try $0.put(Self.value, forKey: 0, in: table) }
        expectError(.mapInUse) { _ = try Self.fill(environment, table, megabytes: 3) }
        let count = try snapshot.count(of: table)
        #expect(count == 0)
      }
      #expect(try environment.read { try $0.count(of: table) } == 1)
    }
  }

  @Test func `a file keeps the size its map has grown to`() throws {
    try withTemporaryDirectory { path in
      let first = try Environment(path: path, configuration: Self.small)
      let table = try first.table("t", keys: .uint32, values: .bytes)
      _ = try Self.fill(first, table, megabytes: 3)
      first.close()
      let second = try Environment(path: path, configuration: Self.small)
      #expect(try second.statistics().mapSizeInBytes == 4 << 20)
      second.close()
    }
  }
}
