import Foundation
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Stores whose folder is moved, replaced or written over while they are open.
@Suite struct MovedStoreTests {
  private func makeStore(_ path: String, _ value: Int64, commits: Int = 3) throws -> ModelStore {
    var configuration = ModelStore.Configuration.forTests
    configuration.durability = .full
    let store = try ModelStore(path: path, configuration: configuration)
    for commit in 0..<commits {
      try store.write {
        try $0.set(TreeNode("leaf", type: "Leaf", fields: ["n": .integer(value + Int64(commit))]))
      }
    }
    return store
  }

  private func set(_ store: ModelStore) throws {
    try store.write { try $0.set(TreeNode("leaf", type: "Leaf", fields: ["n": 99])) }
  }

  private func value(_ store: ModelStore) throws -> TreeValue? {
    try store.read { try $0.tree("leaf")?["n"] }
  }

  /// Was: the writes were acknowledged, and nobody who opened the path saw them.
  @Test func `a store that was moved refuses writes, goes on reading, and says what to do`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", 1)
      rename("\(path)/store", "\(path)/moved")
      expectFailure(
        .storeMoved,
        "\(path)/store: nothing was written, as the store was moved, removed, replaced or written over while "
          + "it was open; close it, and open it where it is"
      ) { try set(store) }
      let refused = await #expect(throws: StoreError.self) {
        try await store.write { _ = try $0.deleteIfPresent("leaf") }
      }
      #expect(refused?.code == .storeMoved)
      #expect((refused?.underlying as? LMDBError)?.code == .fileMoved)
      expectFailure(.storeMoved, "store") { _ = try store.setRetention(commitCount: 7) }
      #expect(try value(store) == 3)
      await store.close()
      let moved = try ModelStore(path: "\(path)/moved", configuration: .forTests)
      try set(moved)
      #expect(try value(moved) == 99)
      await moved.close()
    }
  }

  @Test func `a store whose file was removed can be copied`() throws {
    try withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", 1)
      defer { store.close() }
      unlink("\(path)/store/data.mdb")
      expectFailure(.storeMoved, "store") { try set(store) }
      try store.copy(to: "\(path)/copy")
      let copy = try ModelStore(path: "\(path)/copy", configuration: .forTests)
      defer { copy.close() }
      #expect(try value(copy) == 3)
    }
  }

  /// Was: the second store got the write.
  @Test func `a store over which one with as many commits was written refuses writes`() throws {
    try withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", 1)
      defer { store.close() }
      try makeStore("\(path)/other", 50).close()
      let bytes = try overwrite("\(path)/store", with: "\(path)/other")
      for _ in 0..<2 { expectFailure(.storeMoved, "store") { try set(store) } }
      let after = try Data(contentsOf: URL(fileURLWithPath: "\(path)/store/data.mdb"))
      #expect(after == bytes)
    }
  }

  /// Was: the next write went into the other history.
  @Test func `a store over which a copy with as many other commits was written refuses writes`()
    throws
  {
    try withTemporaryDirectory { path in
      let store = try makeStore("\(path)/store", 1)
      defer { store.close() }
      try store.copy(to: "\(path)/other")
      try makeStore("\(path)/other", 7, commits: 1).close()
      try makeLast(store, 8)
      let bytes = try overwrite("\(path)/store", with: "\(path)/other")
      for _ in 0..<2 { expectFailure(.storeMoved, "store") { try set(store) } }
      let after = try Data(contentsOf: URL(fileURLWithPath: "\(path)/store/data.mdb"))
      #expect(after == bytes)
    }
  }

  private func makeLast(_ store: ModelStore, _ value: Int64) throws {
    try store.write {
      try $0.set(TreeNode("leaf", type: "Leaf", fields: ["n": .integer(value)]))
    }
  }

  /// Writes the data file of a store over that of another one, as `cp` does.
  private func overwrite(_ store: String, with other: String) throws -> Data {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(other)/data.mdb"))
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(store)/data.mdb"))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
    try handle.close()
    return bytes
  }

  @Test func `writes of a store that was moved are reported as failed`() throws {
    try withTemporaryDirectory { path in
      let codes = Locked<[StoreError.Code]>([])
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = .full
      configuration.events = { event in
        guard case .failedWrite(let error) = event else { return }
        codes.withLock { $0.append((error as? StoreError)?.code ?? .engine) }
      }
      let store = try ModelStore(path: "\(path)/store", configuration: configuration)
      defer { store.close() }
      rename("\(path)/store", "\(path)/moved")
      expectFailure(.storeMoved, "store") { try set(store) }
      #expect(codes.withLock(\.self) == [.storeMoved])
    }
  }
}
