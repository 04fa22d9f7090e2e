import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoSystem
import Testing

/// Several processes on one store.
@Suite struct ProcessesTests {
  @Test func `readers see whole commits while another process writes`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      // Parent and child get the same number in one transaction.
      @Sendable func document(_ number: Int) -> String {
        #"{"id":1,"n":\#(number),"child":{"id":2,"n":\#(number)}}"#
      }
      try PandoProcess.output(
        "import", store, "-", "--root", "P:id", "--map", "child=C:id", input: document(0))
      let failures = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        do {
          for number in 1...15 where worker == 0 {
            try PandoProcess.output("set", store, "P:1", document(number))
          }
          for _ in 1...15 where worker > 0 {
            let tree = try TreeValue(json: PandoProcess.output("get", store, "P:1"))
            if tree["n"] != tree["child"]?["n"] { failures.withLock { $0.append("\(tree)") } }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try TreeValue(json: PandoProcess.output("get", store, "C:2"))["n"] == 15)
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: commit 16, "))
    }
  }

  @Test func `several imports may create one store, and it keeps the rules of all`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let failures = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { worker in
        do {
          let lines = (0..<20).map { #"{"p\#(worker)":{"id":\#($0)}}"# }.joined(separator: "\n")
          try PandoProcess.output(
            "import", store, "-", "--lines", "--map", "p\(worker)=T\(worker):id", input: lines)
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try PandoProcess.output("ls", store, "--count") == "120\n")
      let children = (0..<6).map { #""p\#($0)":{"id":"new"}"# }.joined(separator: ",")
      try PandoProcess.output("set", store, "X:1", "{\(children)}")
      #expect(try PandoProcess.output("ls", store, "--count") == "127\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `an import that is killed leaves whole commits`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let process = try ChildProcess(
        "pando", ["import", store, "-", "--lines", "--root", "N:id"])
      // More than two transactions; the process then waits for more lines.
      let lines = (0..<25_000).map { #"{"id":\#($0)}"# }.joined(separator: "\n")
      try process.write(lines + "\n")
      while try PandoProcess.run("ls", store, "--count").output != "20000\n" {
        try #require(!process.hasEnded)
      }
      process.kill()
      #expect(try PandoProcess.output("ls", store, "--count") == "20000\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: commit 2, "))
    }
  }
}

/// Commands that root runs beside a service of another user.
@Suite struct OtherUserTests {
  private static let setpriv = "/usr/bin/setpriv"
  private static let identity = ["--reuid=12345", "--regid=12345", "--clear-groups"]
  private static let mayBecomeAnother =
    (try? ChildProcess.run(setpriv, identity + ["/bin/true"]).status) == 0

  /// Was: the file of locks belonged to root, and the service could not open its store.
  @Test(
    .enabled(if: mayBecomeAnother, "`setpriv` is not permitted"),
    arguments: [["verify"], ["ls", "--count"], ["stat"], ["get", "Status:1"]])
  func `a service opens its store after root has looked into it`(command: [String]) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      chown(directory, 12_345, 12_345)
      func asService(_ arguments: String..., input: String) throws -> ChildProcess.Run {
        try ChildProcess.run(
          Self.setpriv, Self.identity + [PandoProcess.path] + arguments, input: input)
      }
      let made = try asService(
        "import", store, "-", "--root", "Status:id", input: #"{"id":1}"#)
      try #require(made.status == 0, "\(made)")
      unlink("\(store)/lock.mdb")
      let seen = try PandoProcess.run([command[0], store] + command.dropFirst())
      #expect(seen.status == 0, "\(seen)")
      let written = try asService("set", store, "Status:1", "-", input: #"{"id":1,"n":2}"#)
      #expect(written.status == 0, "\(written)")
    }
  }
}
