#if NATS
  import Foundation
  import PandoFixtures
  import PandoModels
  import PandoNATSLog
  import PandoReplication
  import PandoStore
  import Testing

  /// Whether the programs lie beside the tests: a build for some tests alone has them if `PANDO_TESTS` names
  /// PandoCommand and shared-list.
  private let arePrograms = ["pando", "shared-list"].allSatisfy { name in
    FileManager.default.isExecutableFile(atPath: "\(ChildProcess.productFolder)/\(name)")
  }

  /// `pando replica` over a server, and what docs/replication.md shows over three.
  @Suite(
    .enabled(if: TestServers.isThere, "nats-server is not installed"),
    .enabled(if: arePrograms, "pando and shared-list were not built beside the tests"))
  struct NATSCommandTests {
    private struct Note: Model, Codable {
      var id: String
      var modelIdentifier: String? { "Note:\(id)" }
    }

    /// One server, stores in a folder, and the command.
    private struct Fixture {
      let servers: TestServers
      let folder: String

      func open(_ name: String) throws -> ReplicatedStore {
        try ReplicatedStore(
          path: "\(folder)/\(name)", log: try NATSLog(servers.configuration()),
          configuration: .forTests)
      }

      /// Runs `pando replica` with the server, and returns what it prints.
      func run(
        _ name: String, _ arguments: String..., status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws -> String {
        let run = try ChildProcess.run(
          "pando",
          ["replica", "\(folder)/\(name)"] + arguments
            + ["--server", servers.urls[0], "--stream", "log", "--replicas", "1"])
        #expect(run.status == status, "\(run)", sourceLocation: sourceLocation)
        return status == 0 ? run.output : run.errors
      }

      func ask(_ subject: String) throws {
        let log = try NATSLog(servers.configuration())
        defer { log.close() }
        try log.ask(subject)
      }
    }

    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
      try await withTemporaryDirectory { folder in
        let servers = try TestServers(1, in: "\(folder)/servers")
        defer { servers.end() }
        try await body(Fixture(servers: servers, folder: folder))
      }
    }

    /// The number behind some words of a line.
    private func number(_ output: String, _ words: String) throws -> Int {
      #expect(output.hasPrefix(words) && output.hasSuffix("\n"), "\(output)")
      return try #require(Int(output.dropFirst(words.count).dropLast()), "\(output)")
    }

    private func write(_ ids: ClosedRange<Int>, to store: ReplicatedStore) async throws {
      for id in ids { try await store.store.write { try $0.set(Note(id: "\(id)")) } }
    }

    @Test func `a machine joins, tells how far it is, and copies its store`() async throws {
      try await withFixture { fixture in
        let first = try fixture.open("a")
        try await write(1...3, to: first)
        // A service may have it open. Positions of messages without writes lie between.
        let copied = try number(fixture.run("a", "put-copy"), "the log has a copy with position ")
        #expect(copied >= 4)
        let joined = try number(fixture.run("b", "join"), "\(fixture.folder)/b has position ")
        #expect(joined > copied)
        try await write(4...5, to: first)
        let lines = try fixture.run("b").split(separator: "\n").map { line in
          line.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.count == 5 && lines[1...2] == ["position \(joined)", "commit 3"], "\(lines)")
        #expect(lines.last == "newest copy \(copied)", "\(lines)")
        #expect(lines[3].hasPrefix("end of the log ") && lines[3].hasSuffix(" ahead"), "\(lines)")
        let json = try JSONSerialization.jsonObject(
          with: Data(try fixture.run("a", "status", "--json").utf8))
        let fields = try #require(json as? [String: Any])
        let position = try #require(fields["position"] as? Int)
        #expect(position >= joined + 2)
        #expect(try #require(fields["end"] as? Int) >= position)
        #expect(fields["copy"] as? Int == copied)
        let run = try ChildProcess.run(
          "pando", ["replica", "\(fixture.folder)/a", "put-copy", "--to", "\(fixture.folder)/c"])
        let carried = try number(run.output, "\(fixture.folder)/c has a copy with position ")
        #expect(carried >= position, "\(run)")
        #expect(try number(fixture.run("c", "join"), "\(fixture.folder)/c has position ") > carried)
        await first.close()
        let read = try ChildProcess.run("pando", ["get", "\(fixture.folder)/c", "Note:5"])
        #expect(read.output.contains("\"5\""), "\(read)")
        let refused = try ChildProcess.run(
          "pando", ["set", "\(fixture.folder)/c", "Note:5", #"{"id":"6"}"#])
        #expect(refused.status != 0 && refused.errors.contains("log"), "\(refused)")
      }
    }

    @Test func `a log that was lost goes on from one machine, and the others become equal to it`()
      async throws
    {
      try await withFixture { fixture in
        let first = try fixture.open("a")
        try await write(1...3, to: first)
        let second = try fixture.open("b")
        try await second.caughtUp()
        await first.close()
        await second.close()
        try fixture.ask("STREAM.DELETE.log")
        // Nothing makes the stream but who is to.
        let error = try fixture.run("a", status: 4)
        #expect(error.contains("log"), "\(error)")
        let unsure = try ChildProcess.run(
          "pando",
          [
            "replica", "\(fixture.folder)/a", "repair", "--republish", "--server",
            fixture.servers.urls[0], "--stream", "log",
          ])
        #expect(unsure.status == 3 && unsure.errors.contains("not confirmed"), "\(unsure)")
        #expect(
          try fixture.run("a", "repair", "--republish", "--yes").hasPrefix(
            "the log continues from position "))
        #expect(try fixture.run("b", "join", "--replace", "--yes").contains("b has position"))
        let again = try fixture.open("b")
        try await write(4...4, to: again)
        await again.close()
        #expect(try fixture.run("a", "join").contains("a has position"))
        let count = try ChildProcess.run("pando", ["ls", "\(fixture.folder)/a"])
        #expect(count.output == "Note:1\nNote:2\nNote:3\nNote:4\n", "\(count)")
      }
    }

    @Test func `a missing server and wrong arguments are reported`() async throws {
      try await withFixture { fixture in
        let first = try fixture.open("a")
        await first.close()
        fixture.servers.kill(0)
        let gone = try fixture.run("a", status: 4)
        #expect(gone.contains(fixture.servers.urls[0].dropFirst("nats://".count)), "\(gone)")
        #expect(try fixture.run("a", "join", "--user", "me", status: 2).contains("belong together"))
        #expect(try fixture.run("a", "--to", "x", status: 2).contains("is for put-copy"))
        #expect(try fixture.run("nowhere", "put-copy", status: 1).contains("nowhere"))
        let lonely = try ChildProcess.run(
          "pando", ["replica", "\(fixture.folder)/a", "join", "--server", "nats://127.0.0.1:1"])
        #expect(lonely.status == 2 && lonely.errors.contains("--stream"), "\(lonely)")
      }
    }

    @Test func `three machines over three servers show one list in the end`() throws {
      let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/examples/replication/run").path
      let run = try ChildProcess.run(
        "/bin/bash", [script, "\(ChildProcess.productFolder)/shared-list"])
      #expect(run.status == 0, "\(run)")
      #expect(run.output.hasSuffix("-- all three have the same list\n"), "\(run)")
    }
  }
#endif
