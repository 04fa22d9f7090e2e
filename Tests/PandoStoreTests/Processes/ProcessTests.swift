import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Several processes on one store, and a disk that fails.
@Suite struct ProcessTests {
  @Test(arguments: [
    "disk-full", "failed-flush", "fork", "owner-only", "strange-directories", "temporary-refused",
    "clock-jumps", "other-folder",
  ])
  func `the scenario meets its expectations in a process of its own`(scenario: String) throws {
    try withTemporaryDirectory { path in
      let process = try ChildProcess("PandoStoreTestProcess", [scenario, path])
      while process.nextLine() != nil {}
      #expect(process.wait() == 0)
    }
  }

  @Test(.enabled(if: ChildProcess.mayMakeNamespaces, "`unshare --pid` is not permitted"))
  func `a store that a process of the same number has open says so`() throws {
    try withTemporaryDirectory { path in
      let first = try ChildProcess(inNamespace: "PandoStoreTestProcess", ["write-people", path])
      try first.write("set 1 Ada\n")
      #expect(first.nextLine() == "done")
      let second = try ChildProcess(inNamespace: "PandoStoreTestProcess", ["same-number", path])
      #expect(second.wait() == 0)
      // The first one has lost nothing by it.
      try first.write("set 1 B\n")
      #expect(first.nextLine() == "done")
      first.closeInput()
      #expect(first.wait() == 0)
      #expect(try ModelStore.verify(path: path).problems == [])
    }
  }

  @Test func `one process writes and three that only read see whole versions`() throws {
    try withTemporaryDirectory { path in
      // The store has to be there before anybody can only read it.
      try ModelStore(path: path, configuration: .forTests).close()
      let readers = try (0..<3).map { _ in
        try ChildProcess("PandoStoreTestProcess", ["read-versions", path])
      }
      for reader in readers { #expect(reader.nextLine() == "ready") }
      let writer = try ChildProcess("PandoStoreTestProcess", ["write-versions", path])
      #expect(writer.wait() == 0)
      for reader in readers {
        let seen = reader.nextLine().flatMap { Int($0) } ?? 0
        #expect(seen > 0)
        #expect(reader.wait() == 0)
      }
      #expect(try ModelStore.verify(path: path).problems == [])
    }
  }

  @Test func `two processes that grow the map at once lose nothing`() throws {
    try withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.mapSizeInBytes = 1 << 20
      let store = try ModelStore(path: path, configuration: configuration)
      defer { store.close() }
      let processes = try (0..<2).map { _ in
        try ChildProcess("PandoStoreTestProcess", ["grow", path])
      }
      var count = 0
      while count < 200 {
        let found = try store.read { try $0.count() }
        #expect(found >= count)
        if found < 200, processes.allSatisfy({ $0.hasEnded }) { break }
        count = found
      }
      for process in processes { #expect(process.wait() == 0) }
      #expect(try store.read { try $0.count() } == 200)
      #expect(try store.statistics().mapSizeInBytes > 4 << 20)
      try store.write { try $0.set(TreeNode("own", type: "Leaf")) }
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `two processes write one store and see each other's changes`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      defer { store.close() }
      let other = try ChildProcess("PandoStoreTestProcess", ["write-versions", path])
      var own: [CommitNumber] = []
      for id in 0..<50 {
        let commit = try store.commit {
          try $0.set(TreeNode("own:\(id)", type: "Own", fields: ["n": .integer(Int64(id))]))
        }
        own.append(try #require(commit.changeSet?.commitNumber))
      }
      #expect(other.wait() == 0)
      let changes = try store.read { try $0.changes(since: .zero) }
      #expect(changes.map(\.commitNumber.value) == Array(1...200))
      #expect(Set(changes.compactMap(\.author)).count == 2)
      #expect(own == own.sorted())
      // Both name each commit alike.
      let ofOwn = changes.filter { change in own.contains(change.commitNumber) }
      #expect(ofOwn.count == 50 && ofOwn.allSatisfy { $0.inserted.count == 1 })
      #expect(Set(changes.map(\.commitNumber.history)).count == 2)
      #expect(try store.read { try $0.commitNumber } == changes.last?.commitNumber)
      #expect(try store.read { try $0.collectionCount("versions") } == 150)
      #expect(try store.read { try $0.count(ofType: "Own") } == 50)
      #expect(try store.verify().problems == [])
    }
  }
}
