import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// A store on a file system that is mounted read-only, where readers have no lock file.
@Suite struct ReadOnlyMountTests {
  /// Runs `body` with a store that is open, and a read-only mount of its folder; not at all where that can't be made.
  private func withMount(_ body: (ModelStore, String) throws -> Void) throws {
    try withTemporaryDirectory { path in
      let (folder, other) = ("\(path)/store", "\(path)/other")
      let store = try ModelStore(path: folder, configuration: .forTests)
      defer { store.close() }
      try store.write { try $0.set(TreeNode("A:1", type: "A")) }
      unsafe mkdir(other, 0o700)
      guard unsafe mount(folder, other, nil, UInt(MS_BIND), nil) == 0 else { return }
      defer { umount2(other, CInt(MNT_DETACH)) }
      let flags = UInt(MS_BIND | MS_REMOUNT | MS_RDONLY)
      try #require(unsafe mount(nil, other, nil, flags, nil) == 0)
      try body(store, other)
    }
  }

  @Test func `an opening is refused unless the caller says that there is no writer`() throws {
    try withMount { store, path in
      var configuration = StoreConfiguration.forTests
      configuration.isReadOnly = true
      func isRefusal(_ error: any Error) -> Bool {
        (error as? LMDBError)?.code == .readOnlyFileSystem
          && "\(error)".contains("\(path): a writer elsewhere does not see readers")
      }
      #expect { try ModelStore(path: path, configuration: configuration) } throws: {
        isRefusal($0)
      }
      #expect { try ModelStore.verify(path: path) } throws: { isRefusal($0) }
      #expect { try ModelStore(path: path, configuration: .forTests) } throws: {
        ($0 as? LMDBError)?.code == .readOnlyFileSystem
          && "\($0)".contains("nothing can be written to a read-only mount")
      }
      store.close()
      configuration.assumingNoWriter = true
      let reader = try ModelStore(path: path, configuration: configuration)
      #expect(try reader.read { try $0.identifiers() } == ["A:1"])
      reader.close()
      #expect(try ModelStore.verify(path: path, assumingNoWriter: true).problems == [])
    }
  }
}
