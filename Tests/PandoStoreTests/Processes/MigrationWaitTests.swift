import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Programs that wait while another process migrates their store.
@Suite struct MigrationWaitTests {
  @Test(arguments: [false, true])
  func `a program that waits for the migration of another process reports it`(
    opens: Bool
  ) throws {
    try withTemporaryDirectory { path in
      let leaf = TreeNode("leaf", type: "Leaf")
      let count = Locked(0)
      let other = Locked<ChildProcess?>(nil)
      var configuration = ModelStore.Configuration.forTests
      configuration.events = { event in
        guard case .waitsForMigration = event else { return }
        count.withLock { $0 += 1 }
        // The migration does not end before this.
        try? other.withLock { try $0?.write("go\n") }
      }
      let store = try ModelStore(path: path, configuration: configuration)
      try store.write { try $0.set(leaf) }
      if opens { store.close() }
      let process = try ChildProcess("PandoStoreTestProcess", ["migrate", path])
      other.withLock { $0 = process }
      #expect(process.nextLine() == "migrating")
      if opens {
        configuration.migrations = [Migration(typeName: "Leaf", version: 2) { $0["version"] = 3 }]
        let later = try ModelStore(path: path, configuration: configuration)
        defer { later.close() }
        #expect(try later.read { try $0.tree("leaf") }?.fields == ["version": 2])
      } else {
        try store.write { try $0.set(TreeNode("other", type: "Leaf")) }
        store.close()
      }
      #expect(process.wait() == 0)
      #expect(count.withLock { $0 } == 1)
    }
  }
}
