import PandoFixtures
import PandoLMDB
import Testing

/// What happens between processes, and what system calls that fail do.
@Suite struct ProcessTests {
  @Test(arguments: [
    "fork", "fork-in-memory", "failed-flush", "failed-meta", "flushed-names", "disk-full",
    "lost-map",
    "file-size-limit",
  ])
  func `the scenario meets its expectations in a process of its own`(scenario: String) throws {
    try withTemporaryDirectory { path in
      let process = try ChildProcess("PandoLMDBTestProcess", [scenario, path])
      while process.nextLine() != nil {}
      #expect(process.wait() == 0)
    }
  }

  @Test func `one process writes and three read whole versions`() throws {
    try withTemporaryDirectory { path in
      let readers = try (0..<3).map { _ in
        try ChildProcess("PandoLMDBTestProcess", ["read-versions", path])
      }
      for reader in readers { #expect(reader.nextLine() == "ready") }
      let writer = try ChildProcess("PandoLMDBTestProcess", ["write-versions", path])
      #expect(writer.wait() == 0)
      for reader in readers {
        let seen = reader.nextLine().flatMap { Int($0) } ?? 0
        #expect(seen > 0)
        #expect(reader.wait() == 0)
      }
    }
  }

  @Test(.enabled(if: ChildProcess.mayMakeNamespaces, "`unshare --pid` is not permitted"))
  func `two processes of one number in different namespaces can't both read`() throws {
    try withTemporaryDirectory { path in
      let first = try ChildProcess(inNamespace: "PandoLMDBTestProcess", ["read-and-wait", path])
      #expect(first.nextLine() == "1")
      let second = try ChildProcess(inNamespace: "PandoLMDBTestProcess", ["same-number", path])
      #expect(second.nextLine() == "1")
      first.closeInput()
      #expect(first.wait() == 0)
      second.closeInput()
      #expect(second.wait() == 0)
    }
  }

  @Test func `a map grown by another process is adopted by reads and by writes`() throws {
    for readsFirst in [true, false] {
      try withTemporaryDirectory { path in
        var configuration = Environment.Configuration.forTests
        configuration.mapSizeInBytes = 1 << 20
        let environment = try Environment(path: path, configuration: configuration)
        defer { environment.close() }
        let table = try environment.table("grown", keys: .uint32, values: .bytes)
        let other = try ChildProcess("PandoLMDBTestProcess", ["grow", path])
        let size = try #require(other.nextLine().flatMap { Int($0) })
        #expect(other.wait() == 0)
        #expect(size > 10_000_000)
        #expect(try environment.statistics().mapSizeInBytes == 1 << 20)
        if readsFirst {
          #expect(try environment.read { try $0.count(of: table) } == 100)
        } else {
          try environment.write { try $0.delete(key: 0, in: table) }
          #expect(try environment.read { try $0.count(of: table) } == 99)
        }
        #expect(try environment.statistics().mapSizeInBytes == size)
      }
    }
  }

  @Test func `a read inside a read refuses a map grown by another process`() throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.mapSizeInBytes = 1 << 20
      let environment = try Environment(path: path, configuration: configuration)
      defer { environment.close() }
      let table = try environment.table("grown", keys: .uint32, values: .bytes)
      try environment.read { snapshot in
        let other = try ChildProcess("PandoLMDBTestProcess", ["grow", path])
        #expect(other.wait() == 0)
        expectError(.mapInUse) { try environment.read { _ in } }
        expectError(.mapInUse) { try environment.write { _ in } }
        let count = try snapshot.count(of: table)
        #expect(count == 0)
      }
      #expect(try environment.read { try $0.count(of: table) } == 100)
    }
  }

  @Test func `the slot of a reader that was killed is freed`() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let other = try ChildProcess("PandoLMDBTestProcess", ["hold-reader", path])
      #expect(other.nextLine() == "reading")
      #expect(try environment.statistics().readersInUse == 1)
      #expect(environment.clearStaleReaders() == 0)
      other.kill()
      #expect(environment.clearStaleReaders() == 1)
      #expect(try environment.statistics().readersInUse == 0)
    }
  }

  /// Was: not until the next process opened the file, which grew with each commit meanwhile.
  @Test func `a writer that goes on frees the slots of the dead by itself`() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let other = try ChildProcess("PandoLMDBTestProcess", ["hold-reader", path])
      #expect(other.nextLine() == "reading")
      other.kill()
      #expect(try environment.statistics().readersInUse == 1)
      while try environment.statistics().readersInUse > 0 {
        try environment.write { try $0.put([1], forKey: 1, in: table) }
      }
    }
  }
}
