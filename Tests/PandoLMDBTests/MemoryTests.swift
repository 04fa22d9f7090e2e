import CPandoLMDB
import Glibc
import PandoFixtures
import PandoSystem
import Testing

@testable import PandoLMDB

/// Environments over files without a name.
@Suite struct MemoryTests {
  private static let value = [UInt8](repeating: 5, count: 10_000)

  private func withMemory<Result>(
    _ configuration: Environment.Configuration = .forTests,
    _ body: (Environment) throws -> Result
  ) throws -> Result {
    let environment = try Environment.inMemory(configuration: configuration)
    defer { environment.close() }
    return try body(environment)
  }

  @Test func `an environment in memory returns its own values only`() throws {
    try withMemory { first in
      try withMemory { second in
        let table = try first.table("t", keys: .string, values: .int64)
        let other = try second.table("t", keys: .string, values: .int64)
        try first.write { try $0.put(1, forKey: "a", in: table) }
        try second.write { try $0.put(2, forKey: "a", in: other) }
        #expect(try first.read { try $0.value(forKey: "a", in: table) } == 1)
        #expect(try second.read { try $0.value(forKey: "a", in: other) } == 2)
        #expect(first.path == "in memory")
        #expect(first.folder == nil)
        #expect(try first.statistics().readersMax == first.configuration.maximumReaders)
        #expect(first.pollingReason == nil)
      }
    }
  }

  @Test(arguments: seeds(3))
  func `random writes match a dictionary, and readers keep their version`(seed: UInt64) throws {
    try withMemory { environment in
      let table = try environment.table("t", keys: .uint8, values: .bytes)
      var random = SeededGenerator(seed: seed)
      var expected: [UInt8: [UInt8]] = [:]

      func matches(_ snapshot: Snapshot, _ known: [UInt8: [UInt8]]) throws -> Bool {
        guard try snapshot.count(of: table) == known.count else { return false }
        return try known.allSatisfy { try snapshot.value(forKey: $0.key, in: table) == $0.value }
      }
      func step(_ depth: Int) throws {
        let key = UInt8.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
          let count = Int.random(in: 0..<9_000, using: &random)
          let value = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
          try environment.write { try $0.put(value, forKey: key, in: table) }
          expected[key] = value
        case 6..<8:
          try environment.write { _ = try $0.delete(key: key, in: table) }
          expected[key] = nil
        default:
          guard depth < 4 else { return }
          let known = expected
          try environment.read { snapshot in
            for _ in 0..<Int.random(in: 1..<20, using: &random) { try step(depth + 1) }
            #expect(try matches(snapshot, known), "seed \(seed), depth \(depth)")
          }
        }
      }
      for _ in 0..<200 { try step(0) }
      #expect(try environment.read { try matches($0, expected) }, "seed \(seed)")
      let report = try environment.read {
        try environment.pageWalker().verify(.transaction($0.transactionID))
      }
      #expect(report.problems.isEmpty)
    }
  }

  @Test func `threads read whole versions while one writes`() throws {
    try withMemory { environment in
      let table = try environment.table("t", keys: .uint8, values: .uint64)
      try environment.write { transaction in
        for key in UInt8(0)..<8 { try transaction.put(0, forKey: key, in: table) }
      }
      try onThreads(4) { thread in
        for number in UInt64(1)...500 {
          if thread == 0 {
            try environment.write { transaction in
              for key in UInt8(0)..<8 { try transaction.put(number, forKey: key, in: table) }
            }
          } else {
            let values = try environment.read { snapshot in
              try (UInt8(0)..<8).map { try snapshot.value(forKey: $0, in: table) }
            }
            #expect(Set(values).count == 1)
          }
        }
      }
    }
  }

  @Test func `the map grows, and its maximum is an error as for a file`() throws {
    var configuration = GrowthTests.small
    configuration.maximumMapSizeInBytes = 3 << 20
    try withMemory(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      #expect(try GrowthTests.fill(environment, table, megabytes: 2) > 1)
      let error = expectError(.mapFull) {
        _ = try GrowthTests.fill(environment, table, megabytes: 5)
      }
      #expect(error?.detail == "it may not grow above 3145728 bytes")
      #expect(try environment.read { try $0.count(of: table) } == 200)
      try environment.write { transaction in
        for key in UInt32(0)..<200 { try transaction.delete(key: key, in: table) }
      }
      #expect(try environment.read { try $0.count(of: table) } == 0)
      #expect(try GrowthTests.fill(environment, table, megabytes: 2) > 0)
    }
  }

  @Test func `readers beyond the configured number wait or are refused`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumReaders = 3
    configuration.readerTimeoutInSeconds = 0
    try withMemory(configuration) { environment in
      try environment.read { _ in
        try environment.read { _ in
          try environment.read { _ in
            let count = try environment.statistics().readersInUse
            #expect(count == 3)
            expectError(.readersFull) { try environment.read { _ in } }
          }
        }
      }
      try environment.read { _ in }
    }
  }

  @Test func `a wait for a commit ends with the commit and with the closing`() throws {
    let environment = try Environment.inMemory()
    let table = try environment.table("t", keys: .uint8, values: .uint8)
    let seen = try environment.read { $0.transactionID }
    try onThreads(2) { thread in
      if thread == 0 {
        try environment.write { try $0.put(1, forKey: 1, in: table) }
      } else {
        #expect(try environment.waitForCommit(after: seen, timeout: .seconds(600)) == seen + 1)
      }
    }
    try onThreads(2) { thread in
      if thread == 0 {
        environment.close()
      } else {
        expectError(.closed) {
          _ = try environment.waitForCommit(after: seen + 1, timeout: .seconds(600))
        }
      }
    }
  }

  @Test func `a copy in a folder has all of it, and fills another one in memory`() throws {
    try withTemporaryDirectory { path in
      try withMemory { environment in
        let table = try environment.table("t", keys: .uint32, values: .bytes)
        _ = try GrowthTests.fill(environment, table, megabytes: 2)
        for compacting in [false, true] {
          let folder = "\(path)/\(compacting)"
          try environment.copy(to: folder, compacting: compacting)
          let stored = try Environment(path: folder, configuration: .forTests)
          defer { stored.close() }
          let again = try stored.table("t", keys: .uint32, values: .bytes)
          #expect(try stored.read { try $0.value(forKey: 199, in: again) } == Self.value)
          let copy = try Environment.inMemory(copyOf: stored, configuration: .forTests) { walker in
            try walker.verify()
          }
          defer { copy.close() }
          let copied = try copy.table("t", keys: .uint32, values: .bytes)
          try copy.write { _ = try $0.delete(key: 0, in: copied) }
          #expect(try copy.read { try $0.count(of: copied) } == 199)
          #expect(try stored.read { try $0.count(of: again) } == 200)
        }
      }
    }
  }

  @Test func `an environment in memory needs three files, which its end closes`() async {
    await #expect(processExitsWith: .success) {
      var kept: [Environment] = []
      for count in 1...20 {
        kept.append(try Environment.inMemory(configuration: .forTests))
        precondition(openMemoryFiles().count == 3 * count, "\(openMemoryFiles())")
      }
      for environment in kept.prefix(10) { environment.close() }
      precondition(openMemoryFiles().count == 30)
      kept = []
      precondition(openMemoryFiles().isEmpty, "\(openMemoryFiles())")
    }
  }

  @Test func `closing gives the memory back at once, also where a file stays open`() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment.inMemory(configuration: .forTests)
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { transaction in
        for key in UInt32(0)..<1_000 {
          try transaction.put([UInt8](repeating: 7, count: 10_000), forKey: key, in: table)
        }
      }
      // As a forked child has it.
      let other = dup(openMemoryFiles()[0])
      func blockCount() -> Int {
        var status = stat()
        precondition(fstat(other, &status) == 0)
        return Int(status.st_blocks)
      }
      precondition(blockCount() * 512 > 10_000_000, "\(blockCount())")
      environment.close()
      precondition(blockCount() == 0, "\(blockCount())")
    }
  }

  @Test func `a closed environment in memory refuses everything and names itself`() throws {
    let environment = try Environment.inMemory(configuration: .forTests)
    environment.close()
    environment.close()
    expectError(.closed) { try environment.read { _ in } }
    expectError(.closed) { try environment.write { _ in } }
    expectError(.closed) { _ = try environment.statistics() }
    expectError(.closed) { try environment.sync() }
  }

  @Test func `an opening beyond the limit of open files says so and closes its files`()
    async
  {
    await #expect(processExitsWith: .success) {
      _ = try Environment.inMemory(configuration: .forTests)
      var former = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former)
      var limit = rlimit(rlim_cur: 40, rlim_max: former.rlim_max)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      var kept: [Environment] = []
      do {
        while kept.count < 40 { kept.append(try Environment.inMemory(configuration: .forTests)) }
        preconditionFailure("40 environments with 40 files")
      } catch let error as LMDBError {
        precondition(error.code.rawValue == EMFILE, "\(error)")
        precondition("\(error)".contains("in memory"), "\(error)")
        precondition("\(error)".contains("this process may have 40 files open"), "\(error)")
      }
      // To look at the open files needs one more.
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former)
      precondition(openMemoryFiles().count == 3 * kept.count, "\(openMemoryFiles())")
    }
  }

  @Test func `liblmdb takes a table of readers only where it is laid out as known`() throws {
    let table = try ReaderTable(maximumReaders: 1)
    var other: OpaquePointer?
    try check(unsafe mdb_env_create(&other), "mdb_env_create")
    let environment = try #require(unsafe other)
    defer { unsafe mdb_env_close(environment) }
    // One that was not opened has neither path nor process.
    #expect(unsafe pando_set_readers(environment, table.start, 0) == EINVAL)
  }
}
