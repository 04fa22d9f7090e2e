import Foundation
import PandoFixtures
import Testing

/// What `pando replica` says without a log; over NATS see NATSCommandTests.
@Suite struct ReplicaCommandTests {
  @Test func `a store that follows no log is reported, and is not changed`() throws {
    try withTemporaryDirectory { directory in
      let store = "\(directory)/store"
      try PandoProcess.output("set", store, "Person:1", #"{"id":"1"}"#, "--type", "Person")
      for arguments in [["status"], ["put-copy", "--to", "\(directory)/copy"]] {
        let run = try PandoProcess.run(["replica", store] + arguments)
        #expect(run.status != 0 && run.errors.contains("log"), "\(run)")
      }
      #expect(!FileManager.default.fileExists(atPath: "\(directory)/copy/data.mdb"))
      #expect(try PandoProcess.output("ls", store) == "Person:1\n")
    }
  }

  @Test(arguments: [
    (["fly"], "is no action of replica"), (["status", "--to", "x"], "is for put-copy"),
    (["join", "--republish"], "is for repair"), (["status", "--yes"], "is for join and repair"),
    (["repair"], "needs an option that says how"), (["outcome"], "name of the write is missing"),
    (["status", "x"], "one argument too many"), (["begin"], "--server and --stream are missing"),
    (["join", "--server", "x", "--log", "y"], "--database and --user are missing"),
    (["join", "--server", "x", "--log", "y", "--stream", "z"], "is for NATS"),
  ])
  func `wrong arguments are reported`(arguments: [String], reason: String) throws {
    let run = try PandoProcess.run(["replica", "nowhere"] + arguments)
    #expect(run.status == 2 && run.errors.contains(reason), "\(run)")
  }

  @Test func `a missing store is reported`() throws {
    #expect(try PandoProcess.failure(1, "replica", "/nowhere/store").contains("/nowhere/store"))
  }
}
