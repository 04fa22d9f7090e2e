import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Many stores of one process.
///
/// Fixed: each open store had a thread with a stack of 128 MiB, a thread-local key and 256 GiB of address space, so
/// that some 530 could be open.
@Suite struct ManyStoresTests {
  /// More than a process has thread-local keys, and than maps of the standard size fit into its address space.
  private static let count = 1_100
  /// The files that so many stores have open, and some for whatever else runs.
  private static let fileCount = UInt64(count * 4 + 500)

  /// Lets this process have as many files open as the system allows it.
  private static let mayOpenEnough: Bool = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
    if limit.rlim_cur < fileCount, limit.rlim_max >= fileCount {
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return limit.rlim_cur >= fileCount
  }()

  private func leaf(_ id: Int) -> TreeNode { TreeNode("leaf:\(id)", type: "Leaf") }

  @Test(.enabled(if: mayOpenEnough, "the process may not open enough files"))
  func `a process has more than a thousand stores open, and reads and writes each`() async throws {
    try await withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration()
      configuration.durability = .unsynchronized
      var stores: [ModelStore] = []
      for number in 0..<Self.count {
        stores.append(try ModelStore(path: "\(path)/\(number)", configuration: configuration))
      }
      for (number, store) in stores.enumerated() {
        try await store.write { [leaf = leaf(number)] in try $0.set(leaf) }
      }
      for (number, store) in stores.enumerated() {
        #expect(try await store.read { try $0.contains("leaf:\(number)") })
      }
      for store in stores { await store.close() }
    }
  }

  /// The threads of this process that the library has started.
  private static var threadNames: [String] {
    guard let directory = opendir("/proc/self/task") else { return ["no /proc"] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let task = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let file = fopen("/proc/self/task/\(task)/comm", "r") else { continue }
      defer { fclose(file) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = fread(&bytes, 1, bytes.count, file)
      let name = String(decoding: bytes[..<count], as: UTF8.self)
      if name.hasPrefix("pando.") { names.append(name) }
    }
    return names
  }

  @Test(arguments: [false, true])
  func `stores that rest have no thread, also after writes and reads`(isRelaxed: Bool) async {
    // A process of its own, so that no other test has threads.
    await #expect(processExitsWith: .success) { [isRelaxed] in
      var configuration = ModelStore.Configuration.forTests
      if isRelaxed { configuration.durability = .relaxed() }
      let stores = try (0..<50).map { _ in try ModelStore.temporary(configuration: configuration) }
      // The event is the end of threads, of which the kernel tells nobody.
      while !Self.threadNames.isEmpty { sched_yield() }
      for store in stores {
        try await store.write { try $0.set(TreeNode("leaf:1", type: "Leaf")) }
        try await store.write { try $0.set(TreeNode("leaf:2", type: "Leaf")) }
        let count = try await store.read { try $0.count() }
        precondition(count == 2)
      }
      while !Self.threadNames.isEmpty { sched_yield() }
      for store in stores {
        try await store.write { try $0.set(TreeNode("leaf:3", type: "Leaf")) }
        let count = try await store.read { try $0.count() }
        precondition(count == 3)
        await store.close()
      }
    }
  }

  @Test func `an opening that meets the limit of open files names the limit`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      var stores: [ModelStore] = []
      do {
        while stores.count < 64 {
          stores.append(try ModelStore.temporary(configuration: .forTests))
        }
        preconditionFailure("64 stores with 64 files")
      } catch let error as LMDBError {
        let line = "\(error)"
        precondition(error.code.rawValue == EMFILE, line)
        precondition(line.contains("error 24"), line)
        precondition(line.contains("this process may have 64 files open (ulimit -n)"), line)
      }
      // What is open goes on.
      for store in stores { try await store.write { try $0.set(TreeNode("a", type: "Leaf")) } }
      for store in stores { await store.close() }
    }
  }

  @Test func `an opening that meets the limit of address space names the limit`() async {
    await #expect(processExitsWith: .success) {
      var configuration = ModelStore.Configuration()
      configuration.durability = .unsynchronized
      var stores = [try ModelStore.temporary(configuration: configuration)]
      // Room for a few maps of the smallest size that is tried.
      var limit = rlimit()
      limit.rlim_cur = rlim_t((addressSpaceInUse() ?? 0) + 1 << 30)
      limit.rlim_max = limit.rlim_cur
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      do {
        while stores.count < 100 {
          stores.append(try ModelStore.temporary(configuration: configuration))
        }
        preconditionFailure("100 stores")
      } catch let error as LMDBError {
        let line = "\(error)"
        precondition(error.code == .outOfMemory, line)
        precondition(line.contains("error 12"), line)
        precondition(line.contains("\(limit.rlim_cur) bytes of address space (ulimit -v)"), line)
      }
      // Without room for a thread of its own, a write runs on the thread that asks for it.
      for store in stores { try await store.write { try $0.set(TreeNode("a", type: "Leaf")) } }
      for store in stores { await store.close() }
    }
  }
}
