import Foundation
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// An open store is the file that was opened, whatever comes to lie at its path.
@Suite struct OpenFileTests {
  private func makeStore(_ path: String, count: Int) throws -> ModelStore {
    let store = try ModelStore(path: path, configuration: .forTests)
    try store.write { transaction in
      for id in 0..<count {
        try transaction.set(
          TreeNode("leaf:\(id)", type: "Leaf", fields: ["n": .string("leaf \(id)")]))
      }
    }
    return store
  }

  /// Was: the report was that of the file at the path.
  @Test func `a check of an open store is of its own file when another one has its path`() throws {
    try withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", count: 7)
      defer { store.close() }
      rename("\(path)/store", "\(path)/moved")
      let moved = try store.verify()
      #expect(moved.problems == [])
      #expect(moved.nodeCount == 7)
      mkdir("\(path)/store", 0o700)
      try Data("not a store".utf8).write(to: URL(fileURLWithPath: "\(path)/store/data.mdb"))
      let replaced = try store.verify()
      #expect(replaced.problems == [])
      #expect(replaced.nodeCount == 7)
    }
  }

  @Test func `a check of an open store is of its own file when a link has been changed`() throws {
    try withTemporaryDirectory { path in
      try makeStore("\(path)/first", count: 1).close()
      try makeStore("\(path)/second", count: 500).close()
      symlink("first", "\(path)/link")
      let store = try ModelStore(path: "\(path)/link", configuration: .forTests)
      defer { store.close() }
      unlink("\(path)/link")
      symlink("second", "\(path)/link")
      let report = try store.verify()
      #expect(report.problems == [])
      #expect(report.nodeCount == 1)
      #expect(report.pageCount < 100)
    }
  }

  /// Was: the damaged copy stayed at its place.
  @Test(arguments: [false, true])
  func `a copy of a store with a damaged page is refused and leaves nothing`(
    hasFolder: Bool
  ) throws {
    try withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", count: 200)
      defer { store.close() }
      try damageLeaf(of: "\(path)/store/data.mdb", with: "leaf 150")
      if hasFolder { mkdir("\(path)/copy", 0o700) }
      expectFailure(.damaged, "\(path)/store: its pages are not sound as a copy has read them") {
        try store.copy(to: "\(path)/copy")
      }
      #expect((access("\(path)/copy", F_OK) == 0) == hasFolder)
      if hasFolder {
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/copy") == [])
      }
    }
  }

  /// Makes each page whose contents have a text one of no kind.
  private func damageLeaf(of file: String, with text: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    var start = bytes.startIndex
    while let found = bytes[start...].range(of: Data(text.utf8)) {
      let flags = found.lowerBound / 4096 * 4096 + 10
      try handle.seek(toOffset: UInt64(flags))
      try handle.write(contentsOf: Data([0, 0]))
      start = found.upperBound
    }
    try handle.close()
    #expect(start > bytes.startIndex)
  }
}
