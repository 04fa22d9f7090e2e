import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

/// Reasons why a store can't be opened, and their errors.
@Suite struct OpeningTests {
  /// A store with some nodes, closed.
  private func makeStore(_ path: String, count: Int = 1) throws {
    let store = try ModelStore(path: path, configuration: .forTests)
    try store.write { transaction in
      for id in 0..<count {
        try transaction.set(
          TreeNode("leaf:\(id)", type: "Leaf", fields: ["text": .string("\(id) a text")]))
      }
    }
    store.close()
  }

  private func open(_ path: String, _ verifying: ModelStore.Configuration.Verification = .none)
    throws
  {
    var configuration = ModelStore.Configuration.forTests
    configuration.verifying = verifying
    try ModelStore(path: path, configuration: configuration).close()
  }

  @Test func `a second open in the same process is refused`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      expectFailure(engine: .alreadyOpen, "already open in this process") { try open(path) }
      try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
      store.close()
      try open(path)
    }
  }

  @Test func `an LMDB file of another program is refused and left unchanged`() throws {
    // Was: a file with a table of its own named meta got our tables before it was refused.
    for name in ["settings", "meta", nil] {
      try withTemporaryDirectory { path in
        let environment = try Environment(path: path, configuration: .forTests)
        let table = try environment.rawTable(name)
        let key: [UInt8] = [0xff, 0xfe]
        try environment.write { try $0.put(key.span, forKey: key.span, in: table) }
        environment.close()
        expectFailure(.notAStore, "no Pando store") { try open(path) }
        let again = try Environment(path: path, configuration: .forTests)
        defer { again.close() }
        let unnamed = try again.rawTable(nil, create: false)
        #expect(try again.read { try $0.count(of: unnamed) } == 1)
      }
    }
  }

  @Test func `a store whose making was cut short is made to its end`() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      for name in ["meta", "nodes"] { _ = try environment.rawTable(name) }
      environment.close()
      try makeStore(path)
    }
  }

  @Test(arguments: [ModelStore.Configuration.Verification.none, .pages, .everything])
  func `a store whose file was never written is made`(
    verifying: ModelStore.Configuration.Verification
  ) throws {
    // Was: damage, for who asked for a check of the pages.
    try withTemporaryDirectory { path in
      close(creat("\(path)/data.mdb", 0o600))
      try open(path, verifying)
      try open(path, .everything)
    }
  }

  @Test(arguments: [1, 99] as [UInt8])
  func `another format version is refused by its number`(version: UInt8) throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      let environment = try Environment(path: path, configuration: .forTests)
      let meta = try environment.rawTable("meta")
      try environment.write { transaction in
        var row = try transaction.value(Array("state".utf8), in: meta)
        row[4] = version
        try transaction.put(row, Array("state".utf8), in: meta)
      }
      environment.close()
      expectFailure(.unknownFormat, "format version \(version), this library reads version 2") {
        try open(path)
      }
    }
  }

  @Test func `a state row of another size is damage`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path)
      let environment = try Environment(path: path, configuration: .forTests)
      let meta = try environment.rawTable("meta")
      try environment.write { transaction in
        let row = try transaction.value(Array("state".utf8), in: meta)
        try transaction.put(Array(row.dropLast()), Array("state".utf8), in: meta)
      }
      environment.close()
      expectFailure(.damaged, "the state row has 63 bytes instead of 64") { try open(path) }
    }
  }

  @Test func `a truncated file is refused`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path, count: 2000)
      truncate("\(path)/data.mdb", 40_960)
      expectFailure(engine: .truncatedFile, "pages up to") { try open(path) }
      expectFailure(.damaged, "problems in all") { try open(path, .pages) }
      let report = try ModelStore.verify(path: path)
      #expect(!report.isClean)
    }
  }

  @Test func `a damaged page is found without the memory map`() throws {
    try withTemporaryDirectory { path in
      try makeStore(path, count: 2000)
      try overwriteBranchPages(path)
      expectFailure(.damaged, "page ") { try open(path, .pages) }
      expectFailure(.damaged, "restore a copy or load a dump") { try open(path, .everything) }
      #expect(try !ModelStore.verify(path: path).isClean)
    }
  }

  /// Writes nonsense into the header of each page that is not a meta page.
  private func overwriteBranchPages(_ path: String) throws {
    let file = try #require(fopen("\(path)/data.mdb", "r+"))
    defer { fclose(file) }
    let nonsense = [UInt8](repeating: 0xa5, count: 12)
    for page in 2..<6 {
      fseek(file, page * 4096 + 10, SEEK_SET)
      fwrite(nonsense, 1, nonsense.count, file)
    }
  }

  @Test func `damaged rows are refused by a store that is opened with all checks`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
      try store.editRows { try $0.remove(big(1), in: $1.nodes) }
      store.close()
      try open(path)
      expectFailure(.damaged, "1 rows for 0 nodes") {
        try open(path, .everything)
      }
    }
  }

  @Test func `a file that is no LMDB file is refused`() throws {
    try withTemporaryDirectory { path in
      let file = try #require(fopen("\(path)/data.mdb", "w"))
      for _ in 0..<1000 { fputs("{\"json\": true}\n", file) }
      fclose(file)
      expectFailure(engine: .invalidFile) { try open(path) }
      #expect(try !ModelStore.verify(path: path).isClean)
    }
  }

  @Test func `a store that is not there is not made by those who only read`() {
    withTemporaryDirectory { path in
      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      expectFailure(engine: .noSuchFile, path) {
        _ = try ModelStore(path: "\(path)/absent", configuration: configuration)
      }
      #expect(access("\(path)/absent", F_OK) != 0)
      #expect(throws: LMDBError.self) { try ModelStore.verify(path: "\(path)/absent") }
    }
  }

  @Test func `an empty LMDB file is no store for those who only read`() throws {
    try withTemporaryDirectory { path in
      try Environment(path: path, configuration: .forTests).close()
      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      expectFailure(.notAStore, "creation was cut short, which opening it for writing completes") {
        _ = try ModelStore(path: path, configuration: configuration)
      }
      try makeStore(path)
      try ModelStore(path: path, configuration: configuration).close()
    }
  }

  @Test func `a store that is opened for reading refuses writes`() async throws {
    try await withTemporaryDirectory { path in
      try makeStore(path)
      var configuration = ModelStore.Configuration.forTests
      configuration.isReadOnly = true
      let store = try ModelStore(path: path, configuration: configuration)
      expectFailure(.readOnly, "opened for reading only") { try store.write { _ in } }
      await #expect(throws: StoreError.self) { try await store.write { _ in } }
      #expect(try await store.read { try $0.count() } == 1)
      #expect(try store.verify().problems == [])
      await store.close()
    }
  }
}

extension RecordKey {
  /// The key as bytes of a row.
  var bytes: [UInt8] { big(rawValue) }
}
