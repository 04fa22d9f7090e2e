import Glibc
import PandoFixtures
import PandoLMDB
import PandoSystem
import Testing

@Suite struct ReaderPoolTests {
  /// Reads inside reads, this many at once.
  static func nest(
    _ depth: Int, _ environment: Environment, _ body: () throws -> Void
  ) throws {
    if depth == 0 { return try body() }
    try environment.read { _ in try nest(depth - 1, environment, body) }
  }

  /// Why there can be no read.
  private static func failure(_ environment: Environment) -> LMDBError.Code? {
    do {
      try nest(1, environment) {}
      return nil
    } catch {
      return (error as? LMDBError)?.code
    }
  }

  @Test func `100 000 reads in sequence use one slot`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 2
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint32)
      try environment.write { try $0.put(5, forKey: 1, in: table) }
      var sum: UInt32 = 0
      for _ in 0..<100_000 {
        sum += try environment.read { try $0.value(forKey: 1, in: table) } ?? 0
      }
      #expect(sum == 500_000)
    }
  }

  @Test func `1000 reads at once and again`() throws {
    try withEnvironment { environment in
      for _ in 0..<3 {
        try Self.nest(1000, environment) {
          let inUse = try environment.statistics().readersInUse
          #expect(inUse == 1000)
        }
        #expect(try environment.statistics().readersInUse == 0)
      }
    }
  }

  @Test func `more reads at once than there are lanes for`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 1200
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint32)
      try environment.write { try $0.put(5, forKey: 1, in: table) }
      for _ in 0..<2 {
        try Self.nest(1100, environment) {
          let value = try environment.read { try $0.value(forKey: 1, in: table) }
          let inUse = try environment.statistics().readersInUse
          #expect(value == 5)
          #expect(inUse == 1100)
        }
        #expect(try environment.statistics().readersInUse == 0)
      }
    }
  }

  @Test func `one reader too many is an error and the next one works`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 4
    try withEnvironment(configuration) { environment in
      try Self.nest(4, environment) {
        let error = expectError(.readersFull) { try environment.read { _ in } }
        #expect(error?.detail == "process \(getpid()) has 4")
      }
      try Self.nest(4, environment) {}
    }
  }

  @Test func `a thread that found no slot reads when the others have left`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 2
    configuration.readerTimeoutInSeconds = 0
    try withEnvironment(configuration) { environment in
      let slotsAreTaken = Event()
      let hasFailed = Event()
      let slotsAreFree = Event()
      let isOver = Event()
      let failures = Locked<[LMDBError.Code?]>([])
      startThread(named: "reader") {
        slotsAreTaken.wait()
        failures.withLock { $0.append(Self.failure(environment)) }
        hasFailed.signal()
        slotsAreFree.wait()
        failures.withLock { $0.append(Self.failure(environment)) }
        isOver.signal()
      }
      try Self.nest(2, environment) {
        slotsAreTaken.signal()
        hasFailed.wait()
      }
      slotsAreFree.signal()
      isOver.wait()
      #expect(failures.withLock { $0 } == [.readersFull, nil])
    }
  }

  @Test func `more readers than slots wait for one another`() throws {
    // Was: the one too many threw, though the others were about to end.
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 2
    try withEnvironment(configuration) { environment in
      let failures = Locked<[LMDBError.Code?]>([])
      let isOver = Event()
      try Self.nest(2, environment) {
        startThread(named: "reader") {
          failures.withLock { $0.append(Self.failure(environment)) }
          isOver.signal()
        }
      }
      isOver.wait()
      #expect(failures.withLock { $0 } == [nil])
      let left = Locked(32)
      let allAreOver = Event()
      for _ in 0..<32 {
        startThread(named: "reader") {
          for _ in 0..<50 { failures.withLock { $0.append(Self.failure(environment)) } }
          if left.withLock({
            $0 -= 1; return $0 == 0
          }) {
            allAreOver.signal()
          }
        }
      }
      allAreOver.wait()
      #expect(failures.withLock { $0.count { $0 == nil } } == 1 + 32 * 50)
    }
  }

  @Test func `slots of readers that were killed are used again when all are taken`() throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.maximumReaders = 2
      configuration.readerTimeoutInSeconds = 0
      let environment = try Environment(path: path, configuration: configuration)
      defer { environment.close() }
      let others = try (0..<2).map { _ in
        try ChildProcess("PandoLMDBTestProcess", ["hold-reader", path])
      }
      for other in others { #expect(other.nextLine() == "reading") }
      let error = expectError(.readersFull) { try environment.read { _ in } }
      for other in others {
        #expect(
          error?.detail.contains("process \(other.identifier) has 1") == true,
          "\(error?.detail ?? "")")
      }
      for other in others { other.kill() }
      try Self.nest(2, environment) {}
    }
  }

  @Test func `a reader keeps its version while others commit`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint32)
      try environment.write { try $0.put(0, forKey: 1, in: table) }
      try environment.read { snapshot in
        for round in UInt32(1)...50 {
          try environment.write { try $0.put(round, forKey: 1, in: table) }
          let old = try snapshot.value(forKey: 1, in: table)
          #expect(old == 0)
          #expect(try environment.read { try $0.value(forKey: 1, in: table) } == round)
        }
      }
    }
  }
}
