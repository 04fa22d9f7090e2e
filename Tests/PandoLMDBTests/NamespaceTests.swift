import Glibc
import PandoFixtures
import Testing

@testable import PandoLMDB

/// Processes of several PID namespaces share an environment, as containers that share a volume do.
@Suite(.enabled(if: ChildProcess.mayMakeNamespaces, "`unshare --pid` is not permitted"))
struct NamespaceTests {
  private static let program = "PandoLMDBTestProcess"

  private func withRows(
    _ body: (String, Environment, Table<String, UInt64>) throws -> Void
  ) throws {
    try withEnvironment(.forTests) { environment in
      let table = try environment.table("rows", keys: .string, values: .uint64)
      try body(environment.path, environment, table)
    }
  }

  /// The number of a line such as “writes 7”.
  private func number(_ line: String?, _ word: String) -> UInt64? {
    guard let line, line.hasPrefix(word) else { return nil }
    return UInt64(line.dropFirst(word.count + 1))
  }

  @Test func `a waiting thread that dies with the writer's number admits no other writer`() throws {
    try withRows { path, environment, table in
      for round in 1...3 {
        var own: UInt64 = 0
        let next = try ChildProcess(Self.program, ["write-on-thread", path])
        try environment.write { transaction in
          own = transaction.transactionID
          try transaction.put(own, forKey: "own \(round)", in: table)
          let waiting = try ChildProcess(inNamespace: Self.program, ["write-on-thread", path])
          #expect(waiting.nextLine() == "open")
          try waiting.write("\(threadNumber())\n")
          #expect(waiting.nextLine() == "waits as \(threadNumber())")
          waiting.kill()
          #expect(waiting.nextLine() == nil)
          #expect(next.nextLine() == "open")
          try next.write("any\n")
          #expect(next.nextLine()?.hasPrefix("waits") == true)
        }
        #expect(number(next.nextLine(), "writes") == own + 1)
        next.closeInput()
        #expect(next.wait() == 0)
        #expect(try environment.read { try $0.count(of: table) } == 2 * round)
      }
    }
  }

  @Test func `a process of another namespace waits for readers that have come in before`() throws {
    try withRows { path, environment, _ in
      let guardOfOwn = try #require(unsafe environment.namespaces)
      guardOfOwn.enter(.readers)
      let other = try ChildProcess(inNamespace: Self.program, ["open-on-thread", path])
      #expect(other.nextLine() == "waits")
      #expect(guardOfOwn.hasSeenSeveral)
      guardOfOwn.leave(.readers)
      #expect(other.nextLine() == "read")
      other.closeInput()
      #expect(other.wait() == 0)
    }
  }

  @Test func `a child that lives on keeps no turn of a writer that was killed`() throws {
    try withRows { path, environment, table in
      let other = try ChildProcess(inNamespace: Self.program, ["read-and-wait", path])
      #expect(other.nextLine() == "1")
      let writer = try ChildProcess(Self.program, ["fork-in-write", path])
      let child = try #require(writer.nextLine().flatMap { pid_t($0) })
      defer { Glibc.kill(child, SIGKILL) }
      writer.send(SIGKILL)
      #expect(writer.wait() == -SIGKILL)
      try environment.write { try $0.put(1, forKey: "behind", in: table) }
      #expect(Glibc.kill(child, 0) == 0)
      other.closeInput()
      #expect(other.wait() == 0)
    }
  }

  @Test func `one namespace takes no locks, and the last one to leave takes the mark away`() throws
  {
    try withTemporaryDirectory { path in
      let first = try Environment(path: path, configuration: .forTests)
      #expect(unsafe first.namespaces?.hasSeenSeveral == false)
      let same = try ChildProcess(Self.program, ["read-and-wait", path])
      #expect(same.nextLine() != nil)
      #expect(unsafe first.namespaces?.hasSeenSeveral == false)
      let other = try ChildProcess(inNamespace: Self.program, ["read-and-wait", path])
      #expect(other.nextLine() == "1")
      #expect(unsafe first.namespaces?.hasSeenSeveral == true)
      first.close()
      let second = try Environment(path: path, configuration: .forTests)
      #expect(unsafe second.namespaces?.hasSeenSeveral == true)
      second.close()
      for child in [same, other] {
        child.closeInput()
        #expect(child.wait() == 0)
      }
      let last = try Environment(path: path, configuration: .forTests)
      #expect(unsafe last.namespaces?.hasSeenSeveral == false)
      last.close()
    }
  }

  @Test func `counters that processes of three namespaces write lose nothing when they are killed`()
    throws
  {
    try withRows { path, environment, table in
      var children: [ChildProcess] = []
      func start(_ index: Int) throws -> ChildProcess {
        index == 0
          ? try ChildProcess(Self.program, ["count-up", path])
          : try ChildProcess(inNamespace: Self.program, ["count-up", path], isFirst: index == 1)
      }
      for index in 0..<3 { children.append(try start(index)) }
      var said: Set<UInt64> = []
      func note(_ line: String) throws {
        // No number is committed twice.
        #expect(said.insert(try #require(UInt64(line))).inserted)
      }
      var random = SeededGenerator(seed: 1)
      for _ in 0..<30 {
        let index = Int.random(in: 0..<3, using: &random)
        for _ in 0..<20 {
          try note(try #require(children[index].nextLine()))
        }
        children[index].kill()
        while let line = children[index].nextLine() { try note(line) }
        children[index] = try start(index)
      }
      for child in children {
        child.kill()
        while let line = child.nextLine() { try note(line) }
      }
      let count = try environment.read { try $0.value(forKey: "count", in: table) ?? 0 }
      // One that was killed may have committed a number and not said it.
      let last = said.max() ?? 0
      #expect(count >= last && count <= last + 3)
      #expect(try PageWalker(path: path).check().problems.isEmpty)
    }
  }
}

/// The number of the calling thread, in the namespace of its process.
private func threadNumber() -> Int32 {
  var text = [CChar](repeating: 0, count: 64)
  let count = readlink("/proc/thread-self", &text, text.count)
  guard count > 0 else { return 0 }
  let path = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  return path.split(separator: "/").last.flatMap { Int32($0) } ?? 0
}
