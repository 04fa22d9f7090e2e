import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

@Suite struct ClosingTests {
  private func leaf(_ id: Int) -> TreeNode { TreeNode("leaf:\(id)", type: "Leaf") }

  @Test func `closing waits for the writes that are queued`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      let queue = try WriteQueue(store)
      for id in 0..<10 { try queue.submit { try $0.set(leaf(id)) } }
      let isClosed = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          store.close()
          isClosed.signal()
        } else {
          for outcome in queue.run() { _ = try outcome.get() }
          isClosed.wait()
        }
      }
      let again = try ModelStore(path: path, configuration: .forTests)
      defer { again.close() }
      #expect(try again.read { try $0.count() } == 10)
    }
  }

  @Test func `a closed store refuses reads and writes`() async throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    await store.close()
    expectFailure(.closed, "the store has been closed") { try store.write { try $0.set(leaf(0)) } }
    await #expect(throws: StoreError.self) { try await store.write { try $0.set(leaf(0)) } }
    expectFailure(.closed, "the store has been closed") { _ = try store.read { try $0.count() } }
    await store.close()
  }

  /// Closes a store by the blocking form.
  private func closeAndWait(_ store: ModelStore) { store.close() }

  /// Fixed: the descriptor that watches over flushes stayed open as long as the object lived.
  @Test(arguments: [Durability.full, .consistent, .relaxed(), .unsynchronized], [false, true])
  func `a closed store has no open file, as long as it is held`(
    durability: Durability, isReadOnly: Bool
  ) async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = durability
      let first = try ModelStore(path: path, configuration: configuration)
      try await first.write { [leaf = leaf(0)] in try $0.set(leaf) }
      #expect(!openFiles(in: path).isEmpty)
      await first.close()
      #expect(openFiles(in: path) == [])
      configuration.isReadOnly = isReadOnly
      let second = try ModelStore(path: path, configuration: configuration)
      #expect(try await second.read { try $0.count() } == 1)
      closeAndWait(second)
      #expect(openFiles(in: path) == [])
      withExtendedLifetime((first, second)) {}
    }
  }

  @Test(arguments: [Durability.full, .relaxed(), .unsynchronized], [false, true])
  func `a program that the process starts inherits no file of a store`(
    durability: Durability, isReadOnly: Bool
  ) async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.durability = durability
      let first = try ModelStore(path: path, configuration: configuration)
      try await first.write { [leaf = leaf(0)] in try $0.set(leaf) }
      #expect(inheritedFiles(in: path) == [])
      await first.close()
      configuration.isReadOnly = isReadOnly
      let second = try ModelStore(path: path, configuration: configuration)
      #expect(try await second.read { try $0.count() } == 1)
      #expect(inheritedFiles(in: path) == [])
      await second.close()
    }
  }

  @Test func `a closed store is not measured, checked, copied or dumped`() async throws {
    try await withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      await store.close()
      func refuses(_ body: () throws -> Void) {
        expectFailure(.closed, "the store has been closed", body)
      }
      refuses { _ = try store.statistics() }
      refuses { _ = try store.openReaders() }
      refuses { _ = try store.verify() }
      refuses { try store.copy(to: path + "/copy") }
      refuses { try store.dump { _ in } }
    }
  }

  @Test func `a write inside a write stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let store = try ModelStore.temporary()
      try store.write { _ in
        try store.write { _ in }
      }
    }
  }

  @Test func `a write inside the commit handler stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let store = try ModelStore.temporary()
      store.setCommitHandler { _ in _ = try? store.write { _ in } }
      try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
    }
  }

  @Test func `closing inside a write stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let store = try ModelStore.temporary()
      try store.write { _ in store.close() }
    }
  }

  @Test func `a temporary store takes its directory with it`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let path = store.path
    #expect(access(path, F_OK) == 0)
    store.close()
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a temporary store without references removes its directory`() throws {
    let path = try ModelStore.temporary(configuration: .forTests).path
    #expect(access(path, F_OK) != 0)
  }
}
