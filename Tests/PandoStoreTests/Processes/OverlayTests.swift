import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// Stores in a layer of an image, of which the first writer makes a copy.
@Suite struct OverlayTests {
  private static let mayMount: Bool = {
    guard geteuid() == 0 else { return false }
    return (try? withTemporaryDirectory { path in try withOverlay(path) { _ in true } }) == true
  }()

  private struct NotMounted: Error {}

  /// Runs `body` with an overlay mount over `path/lower`.
  private static func withOverlay<Result>(
    _ path: String, _ body: (String) throws -> Result
  ) throws -> Result {
    for name in ["lower", "upper", "work", "merged"] { mkdir("\(path)/\(name)", 0o700) }
    let merged = "\(path)/merged"
    let options = "lowerdir=\(path)/lower,upperdir=\(path)/upper,workdir=\(path)/work"
    guard mount("overlay", merged, "overlay", 0, options) == 0 else { throw NotMounted() }
    defer { umount2(merged, CInt(MNT_DETACH)) }
    return try body(merged)
  }

  private func open(_ path: String, isReadOnly: Bool = false) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.isReadOnly = isReadOnly
    return try ModelStore(path: path, configuration: configuration)
  }

  /// Was: the reader showed the version of the image for ever.
  @Test(
    .enabled(if: mayMount, "an overlay can't be mounted"), arguments: [false, true])
  func `a reader sees commits of a writer that has copied the store out of the image`(
    hasLockFile: Bool
  ) throws {
    try withTemporaryDirectory { path in
      mkdir("\(path)/lower", 0o700)
      let image = try open("\(path)/lower/store")
      try image.write { try $0.set(TreeNode("Person:1", type: "Person", fields: ["name": "Ada"])) }
      image.close()
      if !hasLockFile { unlink("\(path)/lower/store/lock.mdb") }
      try Self.withOverlay(path) { merged in
        let reader = try open("\(merged)/store", isReadOnly: true)
        defer { reader.close() }
        #expect(try reader.read { try $0.count() } == 1)
        let writer = try ChildProcess("PandoStoreTestProcess", ["write-people", "\(merged)/store"])
        for id in 2...5 {
          let before = try #require(reader.newestVersion)
          try writer.write("set \(id) B\(id)\n")
          #expect(writer.nextLine() == "done")
          #expect(try #require(reader.newestVersion) > before)
          #expect(try reader.read { try $0.count() } == id)
          let name = try reader.read { try $0.tree("Person:\(id)")?["name"] }
          #expect(name == .string("B\(id)"))
        }
        let report = try reader.verify()
        #expect(report.problems == [])
        #expect(report.nodeCount == 5)
        writer.closeInput()
        #expect(writer.wait() == 0)
      }
    }
  }

  @Test(.enabled(if: mayMount, "an overlay can't be mounted"))
  func `a read under way keeps the version of the image, and those after it go on`() throws {
    try withTemporaryDirectory { path in
      mkdir("\(path)/lower", 0o700)
      try open("\(path)/lower/store").close()
      try Self.withOverlay(path) { merged in
        let reader = try open("\(merged)/store", isReadOnly: true)
        defer { reader.close() }
        let writer = try ChildProcess("PandoStoreTestProcess", ["write-people", "\(merged)/store"])
        try reader.read { snapshot in
          try writer.write("set 1 Ada\n")
          #expect(writer.nextLine() == "done")
          #expect(try snapshot.count() == 0)
          // The map can't be exchanged beneath the read of this thread.
          expectFailure(engine: .mapInUse) { try reader.read { _ in } }
          #expect(try snapshot.count() == 0)
        }
        #expect(try reader.read { try $0.count() } == 1)
        writer.closeInput()
        #expect(writer.wait() == 0)
      }
    }
  }
}
