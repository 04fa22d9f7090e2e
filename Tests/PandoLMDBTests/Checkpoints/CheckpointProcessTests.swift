import PandoFixtures
import Testing

@testable import PandoLMDB

/// Checkpoints of several processes.
@Suite struct CheckpointProcessTests {
  private func withWriter(
    _ path: String, _ body: (ChildProcess) throws -> Void
  ) throws {
    let writer = try ChildProcess("PandoLMDBTestProcess", ["write-with-checkpoints", path])
    #expect(writer.nextLine() == "open")
    try body(writer)
  }

  private func line(_ environment: Environment) throws -> String? {
    let table = try environment.table("lines", keys: .string, values: .string)
    return try environment.read { try $0.value(forKey: "line", in: table) }
  }

  @Test func `a killed process loses nothing, and its pin is no one else's`() throws {
    try withTemporaryDirectory { path in
      try withWriter(path) { writer in
        try writer.write("one\n")
        #expect(writer.nextLine() == "written")
        let environment = try Environment(
          path: path, configuration: CheckpointFixture.configuration())
        defer { environment.close() }
        let table = try environment.table("lines", keys: .string, values: .string)
        try environment.write { try $0.put("two", forKey: "line", in: table) }
        writer.kill()
        environment.clearStaleReaders()
        // Its own pin holds the pages of what the newest slot has.
        let checkpoints = try #require(environment.checkpoints)
        let version = try #require(checkpoints.file.newest()?.version)
        #expect(try #require(environment.writer.withLock("test") { checkpoints.pinned }) <= version)
        #expect(try line(environment) == "two")
        for _ in 0..<20 { try environment.write { try $0.put("3", forKey: "line", in: table) } }
        #expect(
          try environment.statistics().oldestReaderTransactionID.map { $0 <= version } == true)
      }
    }
  }

  @Test func `a store that a killed process has left is complete at its next opening`() throws {
    for interval in [nil, Duration.seconds(60)] {
      try withTemporaryDirectory { path in
        try withWriter(path) { writer in
          try writer.write("one\n")
          #expect(writer.nextLine() == "written")
          writer.kill()
        }
        let environment = try Environment(
          path: path, configuration: CheckpointFixture.configuration(interval))
        defer { environment.close() }
        #expect(try line(environment) == "one")
        #expect(environment.cutCount == 0)
      }
    }
  }

  @Test func `writers with and without checkpoints refuse each other`()
    throws
  {
    try withTemporaryDirectory { path in
      try withWriter(path) { writer in
        expectError(.otherDurability) {
          _ = try Environment(path: path, configuration: .forTests)
        }
        var readOnly = CheckpointFixture.configuration(nil)
        readOnly.isReadOnly = true
        try Environment(path: path, configuration: readOnly).close()
        writer.closeInput()
        #expect(writer.wait() == 0)
      }
      let environment = try Environment(path: path, configuration: .forTests)
      let writer = try ChildProcess("PandoLMDBTestProcess", ["write-with-checkpoints", path])
      #expect(writer.nextLine() == nil)
      #expect(writer.wait() == 1)
      environment.close()
      try withWriter(path) { writer in
        writer.closeInput()
        #expect(writer.wait() == 0)
      }
    }
  }

  @Test func `the file is whole when the last of them has closed it`() throws {
    try withTemporaryDirectory { path in
      try withWriter(path) { writer in
        let environment = try Environment(
          path: path, configuration: CheckpointFixture.configuration())
        let table = try environment.table("lines", keys: .string, values: .string)
        try environment.write { try $0.put("mine", forKey: "line", in: table) }
        try writer.write("one\n")
        #expect(writer.nextLine() == "written")
        let file = try #require(environment.checkpoints?.file.newest())
        #expect(file.boot != .none)
        environment.close()
        let slots = try #require(try CheckpointFile.open(folder: path, makes: false, mode: 0))
        #expect(slots.newest()?.boot != BootIdentifier.none)
        writer.closeInput()
        #expect(writer.wait() == 0)
        #expect(slots.newest()?.boot == BootIdentifier.none)
      }
    }
  }
}
