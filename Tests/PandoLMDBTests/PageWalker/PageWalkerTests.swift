import CPandoLMDB
import Foundation
import PandoFixtures
import PandoLMDB
import Testing

@Suite struct PageWalkerTests {
  @Test func `a new environment is clean and empty`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      let report = try PageWalker(path: path).verify()
      #expect(report.transactionID == 0)
      #expect(report.pages.meta == 2)
      #expect(report.lastPage == 1)
      #expect(report.pages.lost == 0)
      #expect(report.tables.map(\.name) == [nil])
      #expect(report.tables[0].entries == 0)
      #expect(report.pageSizeInBytes == 4096)
      _ = environment
    }
  }

  @Test(arguments: seeds(3))
  func `files of all sorts of tables are clean after each transaction`(seed: UInt64) throws {
    for workload in [
      PageWorkload.everything, .keys, .small, .mainOnly,
    ] {
      try withTemporaryDirectory { path in
        let environment = try PageFixture(path: path)
        try workload.fill(environment, seed: seed)
        try expectSameAsLMDB(environment, tables: workload.tables.map(\.name))
        let compact = path + "/compact"
        try FileManager.default.createDirectory(
          atPath: compact, withIntermediateDirectories: false)
        try PageFixture.require(
          mdb_env_copy2(environment.handle, compact, UInt32(MDB_CP_COMPACT)), "mdb_env_copy2")
        let copy = try PageFixture(path: compact)
        try expectSameAsLMDB(copy, tables: workload.tables.map(\.name))
        #expect(try PageWalker(path: compact).verify().pages.free == 0)
      }
    }
  }

  @Test(arguments: seeds(4))
  func `every commit of a long history is clean`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      let walker = try PageWalker(path: path)
      for step in 0..<40 {
        var workload = seed & 1 == 0 ? PageWorkload.small : PageWorkload.keys
        workload.transactions = 1
        workload.changesPerTransaction = step % 7 == 0 ? 400 : 15
        workload.deletesPerHundred = (step / 10) % 2 == 0 ? 10 : 80
        // The same keys each time, so that they are found again.
        try workload.fill(environment, seed: seed &* 1000 &+ UInt64(step % 3))
        let report = try walker.check()
        try #require(report.isClean, "seed \(seed), step \(step): \(report.problems)")
        try #require(report.pages.lost == 0, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `a table that was emptied is clean and its pages are free`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        let table = try transaction.table("numbers")
        for number in 0..<5000 {
          try transaction.put(bytes(number), forKey: bytes(number), in: table)
        }
      }
      try environment.write { transaction in
        let table = try transaction.table("numbers")
        for number in 0..<5000 { try transaction.delete(bytes(number), in: table) }
      }
      try environment.write { transaction in
        try PageFixture.require(
          mdb_drop(transaction.handle, try transaction.table("numbers"), 0), "mdb_drop")
      }
      let report = try PageWalker(path: path).verify()
      #expect(report.tables.map(\.name) == [nil, "numbers"])
      #expect(report.tables[1].entries == 0)
      #expect(report.tables[1].depth == 0)
      #expect(report.pages.free > 30)
      #expect(report.pages.lost == 0)
      try expectSameAsLMDB(environment, tables: ["numbers"])
    }
  }

  @Test func `a deep tree is walked to its leaves`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        let table = try transaction.table("deep")
        for number in 0..<4000 {
          let key = [UInt8](repeating: 0x61, count: 490) + bytes(number)
          try transaction.put([], forKey: key, in: table)
        }
      }
      let report = try PageWalker(path: path).verify()
      #expect(report.tables[1].depth >= 4)
      #expect(report.tables[1].entries == 4000)
      try expectSameAsLMDB(environment, tables: ["deep"])
    }
  }

  @Test func `values written and dropped in one transaction leave free pages past the end`() throws
  {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        let table = try transaction.table("values")
        try transaction.put([1], forKey: [1], in: table)
      }
      try environment.write { transaction in
        let table = try transaction.table("values")
        try transaction.put([UInt8](repeating: 7, count: 1 << 20), forKey: [2], in: table)
        try transaction.put([UInt8](repeating: 7, count: 9000), forKey: [3], in: table)
        try transaction.put([UInt8](repeating: 7, count: 10), forKey: [3], in: table)
        try transaction.delete([2], in: table)
      }
      let report = try PageWalker(path: path).verify()
      #expect(report.pages.lost == 0)
      try expectSameAsLMDB(environment, tables: ["values"])
    }
  }

  @Test func `progress is reported and can end the walk`() throws {
    struct Enough: Error {}
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        let table = try transaction.table(nil)
        try transaction.put([UInt8](repeating: 1, count: 12_000_000), forKey: [1], in: table)
        try transaction.put([UInt8](repeating: 1, count: 6_000_000), forKey: [2], in: table)
      }
      var calls: [(Int, Int)] = []
      let report = try PageWalker(path: path).verify { calls.append(($0, $1)) }
      #expect(calls.count >= 2)
      #expect(calls.last?.0 == Int(report.lastPage) + 1)
      #expect(calls.allSatisfy { $0.0 <= $0.1 })
      #expect(throws: Enough.self) {
        try PageWalker(path: path).check { _, _ in throw Enough() }
      }
    }
  }

  @Test func `a missing file and a directory in its place are clear errors`() throws {
    try withTemporaryDirectory { path in
      let missing = #expect(throws: LMDBError.self) { try PageWalker(path: path) }
      #expect(missing?.code == .noSuchFile)
      try FileManager.default.createDirectory(
        atPath: path + "/data.mdb", withIntermediateDirectories: false)
      let directory = #expect(throws: LMDBError.self) { try PageWalker(path: path) }
      #expect(directory?.code == LMDBError.Code(rawValue: EISDIR))
    }
  }

  @Test func `a table that is not there is an error and an error of the body comes out`() throws {
    struct Enough: Error {}
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        try transaction.put([1], forKey: [1], in: try transaction.table("here"))
      }
      let walker = try PageWalker(path: path)
      let error = #expect(throws: LMDBError.self) {
        try walker.forEachEntry(inTable: "elsewhere") { _, _ in }
      }
      #expect(error?.code == .notFound)
      #expect(throws: Enough.self) {
        try walker.forEachEntry(inTable: "here") { _, _ in throw Enough() }
      }
    }
  }

  /// Compares what the walker says with what liblmdb says of the same version.
  private func expectSameAsLMDB(_ environment: PageFixture, tables names: [String?]) throws {
    let walker = try PageWalker(path: environment.path)
    let report = try walker.verify()
    #expect(report.pages.lost == 0)
    try environment.read { transaction in
      #expect(report.transactionID == transaction.id)
      for name in names {
        let table = try transaction.table(name, flags: 0)
        let statistics = try transaction.statistics(of: table)
        let found = try #require(report.tables.first { $0.name == name })
        #expect(found.entries == UInt64(statistics.ms_entries))
        #expect(found.depth == Int(statistics.ms_depth))
        #expect(found.branchPages == UInt64(statistics.ms_branch_pages))
        #expect(found.leafPages == UInt64(statistics.ms_leaf_pages))
        #expect(found.overflowPages == UInt64(statistics.ms_overflow_pages))
        var entries: [PageFixtureEntry] = []
        try walker.forEachEntry(inTable: name) { key, value in
          entries.append(
            PageFixtureEntry(
              key: key.withUnsafeBufferPointer { Array($0) },
              value: value.withUnsafeBufferPointer { Array($0) }))
        }
        #expect(entries == (try transaction.entries(in: table)))
      }
    }
  }

  private func bytes(_ number: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
