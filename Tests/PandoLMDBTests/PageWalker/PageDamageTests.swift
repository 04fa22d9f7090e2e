import CPandoLMDB
import Foundation
import PandoFixtures
import PandoLMDB
import Testing

/// Damages one thing at a time; each problem must name the page and what is wrong with it.
@Suite struct PageDamageTests {
  @Test func `a truncated file is named with its size`() throws {
    for size in [0, 1, 100, 4096, 4200] {
      try expect(.fileSize, "file of \(size) bytes ends before") { file in
        file.bytes.removeLast(file.bytes.count - size)
        return size < 152 ? 0 : 1
      }
    }
  }

  @Test func `a page in use beyond the end of the file is named`() throws {
    try expect(.fileSize, "but the file ends after") { file in
      let last = try file.usedPages().max() ?? 0
      file.bytes.removeLast(file.bytes.count - last * file.pageSize)
      return last
    }
  }

  @Test func `damage to either meta page is named`() throws {
    for index in 0..<2 {
      func damage(_ message: String, at offset: Int, _ value: UInt32) throws {
        try expect(.metaPage, message) { file in
          file.set(value, at: index * file.pageSize + offset)
          return index
        }
      }
      try damage("says it is page 77", at: 0, 77)
      try damage("a meta page has 0x8", at: 8, 0)
      try damage("has magic number 0xbeefc0df", at: 16, 0xBEEF_C0DF)
      try damage("is of format version 2", at: 20, 2)
      try damage("gives a page size of 4097 bytes", at: 40, 4097)
      try damage("gives a page size of 0 bytes", at: 40, 0)
      try damage("which LMDB writes to the other meta page", at: 144, UInt32(8001 - index))
      try damage("they are neighbours", at: 144, UInt32(8000 + index))
    }
  }

  @Test func `impossible sizes in the live meta page are named`() throws {
    func damage(_ message: String, at offset: Int, _ value: UInt64) throws {
      try expect(.metaPage, message) { file in
        file.set(value, at: file.liveMeta + offset)
        return file.liveMeta / file.pageSize
      }
    }
    try damage("more than can be mapped", at: 32, 1 << 60)
    try damage("less than up to the last page", at: 32, 8192)
    try damage("gives 0 as the last page", at: 136, 0)
    try damage("far beyond a file of", at: 136, 1 << 40)
    try damage("far beyond a file of", at: 136, .max)
  }

  @Test func `impossible records of trees are named`() throws {
    func damage(_ message: String, at offset: Int, _ value: UInt16) throws {
      try expect(.tableRecord, message, tree: "table \"t\"") { file in
        file.set(value, at: try file.record(ofTable: "t") + offset)
        return nil
      }
    }
    try damage("has flags 0x8000", at: 4, 0x8000)
    try damage("gives a depth of 0", at: 6, 0)
    try damage("gives a depth of 33", at: 6, 33)
    try expect(.tableRecord, "has no root but is not empty", tree: "table \"t\"") { file in
      file.set(UInt64.max, at: try file.record(ofTable: "t") + 40)
      return nil
    }
    try expect(.tableRecord, "does not say that keys are integers", tree: "free list") { file in
      file.set(UInt16(0), at: file.freeListRecord + 4)
      return nil
    }
    try expect(.tableRecord, "has 47 bytes, not 48", tree: "main table") { file in
      let page = file.root(ofRecord: file.mainRecord)
      // The node's padding hides that it is one byte shorter.
      file.set(UInt16(47), at: file.node(page, 1))
      return page
    }
    try expect(.tableRecord, "holds a zero byte", tree: "main table") { file in
      let page = file.root(ofRecord: file.mainRecord)
      file.bytes[file.node(page, 0) + 8] = 0
      return page
    }
    try expect(.unsupportedTable, "allows several values under one key", tree: "main table") {
      file in
      file.set(UInt16(4), at: file.mainRecord + 4)
      return nil
    }
  }

  @Test func `a main table of integers can't hold tables`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        // Four bytes, as an integer has.
        try transaction.put([1], forKey: [1], in: try transaction.table("four"))
      }
      var image = try PageImage(path: path)
      image.set(UInt16(MDB_INTEGERKEY), at: image.mainRecord + 4)
      let copy = path + "/copy"
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      try image.write(to: copy)
      let problem = try #require(try PageWalker(path: copy).check().problems.first)
      #expect(problem.kind == .tableRecord)
      #expect(problem.message == "holds a table, which its flags 0x8 exclude")
    }
  }

  @Test func `page numbers out of range and pages used twice are named`() throws {
    for number in [0, 1, 99_999, 1 << 47] {
      try expect(.pageNumber, "is outside the pages 2 to", tree: "table \"t\"") { file in
        let root = try file.rootOfTable()
        file.set(UInt32(truncatingIfNeeded: number), at: file.node(root, 1))
        file.set(UInt16(number >> 32), at: file.node(root, 1) + 4)
        return number
      }
    }
    try expect(.sharedPage, "is used a second time, by page") { file in
      let root = try file.rootOfTable()
      let first = file.child(root, 0)
      file.set(UInt32(first), at: file.node(root, 1))
      return first
    }
    try expect(.sharedPage, "is used a second time, by page") { file in
      let root = try file.rootOfTable()
      file.set(UInt32(root), at: file.node(root, 0))
      return root
    }
    try expect(.pageNumber, "says it is page 3000000") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.set(UInt64(3_000_000), at: leaf * file.pageSize)
      return leaf
    }
  }

  @Test func `a page of another sort than its place asks for is named`() throws {
    for flags in [0, 3, 4, 8, 0x12, 0x22, 0x42] as [UInt16] {
      try expect(.pageFlags, "has flags 0x\(String(flags, radix: 16));") { file in
        let leaf = file.child(try file.rootOfTable(), 2)
        file.set(flags, at: leaf * file.pageSize + 10)
        return leaf
      }
    }
    try expect(.depth, "is a branch page at level 2 of a tree whose leaves are at 2") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.set(UInt16(1), at: leaf * file.pageSize + 10)
      return leaf
    }
    try expect(.depth, "is a leaf at level 2 of a tree whose leaves are at 3") { file in
      file.set(UInt16(3), at: try file.record(ofTable: "t") + 6)
      return file.child(try file.rootOfTable(), 0)
    }
    try expect(.depth, "is a branch page at level 1 of a tree whose leaves are at 1") { file in
      file.set(UInt16(1), at: try file.record(ofTable: "t") + 6)
      return try file.rootOfTable()
    }
  }

  @Test func `impossible bounds of a page are named`() throws {
    for (lower, upper) in [(14, 4096), (17, 4096), (40, 39), (40, 4098), (40, 4095), (0, 0)] {
      try expect(.pageBounds, "free space is from byte \(lower) to \(upper) of 4096") { file in
        let leaf = file.child(try file.rootOfTable(), 2)
        file.set(UInt16(lower), at: leaf * file.pageSize + 12)
        file.set(UInt16(upper), at: leaf * file.pageSize + 14)
        return leaf
      }
    }
    try expect(.pageBounds, "has no nodes") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.set(UInt16(16), at: leaf * file.pageSize + 12)
      return leaf
    }
    try expect(.pageBounds, "is a branch page with 1 children") { file in
      let root = try file.rootOfTable()
      // One node alone at the end of the page, with an empty key.
      file.set(UInt16(18), at: root * file.pageSize + 12)
      file.set(UInt16(4088), at: root * file.pageSize + 14)
      file.set(UInt16(4088), at: file.pointer(root, 0))
      file.set(UInt16(0), at: root * file.pageSize + 4094)
      return root
    }
  }

  @Test func `nodes outside the page or over each other are named`() throws {
    for offset in [0, 20, 4089, 4090, 65_535] as [UInt16] {
      try expect(.node, "node 1 starts at byte \(offset), nodes lie from") { file in
        let leaf = file.child(try file.rootOfTable(), 2)
        file.set(offset, at: file.pointer(leaf, 1))
        return leaf
      }
    }
    try expect(.node, "node 1 lies over another one") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      let first: UInt16 = file.number(at: file.pointer(leaf, 0))
      file.set(first, at: file.pointer(leaf, 1))
      return leaf
    }
    try expect(.node, "and ends outside the page") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.set(UInt32(4_000_000_000), at: file.node(leaf, 1))
      return leaf
    }
    try expect(.node, "nodes overlap or leave a gap") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      let size: UInt32 = file.number(at: file.node(leaf, 1))
      file.set(size - 10, at: file.node(leaf, 1))
      return leaf
    }
    for flags in [2, 4, 6, 8, 0x100] as [UInt16] {
      try expect(.node, "node 1 has flags 0x\(String(flags, radix: 16))") { file in
        let leaf = file.child(try file.rootOfTable(), 2)
        file.set(flags, at: file.node(leaf, 1) + 4)
        return leaf
      }
    }
  }

  @Test func `keys of a wrong size or out of order are named`() throws {
    for size in [0, 512] {
      try expect(.keySize, "key 1 has \(size) bytes; 1 to 511 can be") { file in
        let leaf = file.root(ofRecord: try file.record(ofTable: "odds"))
        let node = file.node(leaf, 1)
        // Key and value share the node's bytes: what one gains the other loses.
        let total = Int(file.number(at: node) as UInt32) + Int(file.number(at: node + 6) as UInt16)
        file.set(UInt16(size), at: node + 6)
        file.set(UInt32(total - size), at: node)
        return leaf
      }
    }
    try expect(.keyOrder, "key 1 equals key 0") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      for byte in 0..<8 {
        file.bytes[file.node(leaf, 1) + 8 + byte] = file.bytes[file.node(leaf, 0) + 8 + byte]
      }
      return leaf
    }
    try expect(.keyOrder, "key 2 sorts before key 1") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.bytes[file.node(leaf, 1) + 8] = 0xff
      return leaf
    }
    try expect(.keyRange, "its first key sorts before the key that leads to it") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      for byte in 0..<8 { file.bytes[file.node(leaf, 0) + 8 + byte] = 0 }
      return leaf
    }
    try expect(.keyRange, "its last key does not sort before the key that leads") { file in
      let leaf = file.child(try file.rootOfTable(), 2)
      file.bytes[file.node(leaf, file.nodeCount(leaf) - 1) + 8] = 0xff
      return leaf
    }
    try expect(.keySize, "integer keys all have 4 or all have 8") { file in
      file.set(UInt16(8), at: try file.record(ofTable: "odds") + 4)
      return file.root(ofRecord: try file.record(ofTable: "odds"))
    }
  }

  @Test func `overflow pages that differ from their node are named`() throws {
    try expect(.overflow, "is a run of 1 overflow pages; the value of 10000 bytes takes 3") {
      file in
      let run = try file.overflowRun()
      file.set(UInt32(1), at: run * file.pageSize + 12)
      return run
    }
    try expect(.pageFlags, "an overflow page has 0x4") { file in
      let run = try file.overflowRun()
      file.set(UInt16(2), at: run * file.pageSize + 10)
      return run
    }
    try expect(.pageNumber, "starts a run of 4294967294 pages that is outside") { file in
      let run = try file.overflowRun()
      file.set(UInt32.max, at: run * file.pageSize + 12)
      return run + 1
    }
    try expect(.pageNumber, "is outside the pages 2 to", isExact: false) { file in
      let leaf = file.root(ofRecord: try file.record(ofTable: "large"))
      file.set(UInt64.max, at: file.value(leaf, 0))
      return nil
    }
    try expect(.sharedPage, "is used a second time", isExact: false) { file in
      let run = try file.overflowRun()
      file.set(UInt32(4), at: run * file.pageSize + 12)
      return nil
    }
  }

  @Test func `counts that differ from the record are named`() throws {
    for (offset, what) in [
      (8, "branch pages"), (16, "leaf pages"), (24, "overflow pages"), (32, "entries"),
    ] {
      try expect(.count, "\(what), its record says 123456", tree: "table \"t\"") { file in
        file.set(UInt64(123_456), at: try file.record(ofTable: "t") + offset)
        return nil
      }
    }
  }

  @Test func `a free list that is not well formed is named`() throws {
    func damage(
      _ message: String, _ change: (inout PageImage, _ key: Int, _ value: Int) -> Void
    ) throws {
      try expect(.freeList, message, tree: "free list") { file in
        let leaf = file.root(ofRecord: file.freeListRecord)
        change(&file, file.node(leaf, 0) + 8, file.value(leaf, 0))
        return leaf
      }
    }
    try damage("a record is of transaction 0, the last is") { file, key, _ in
      file.set(UInt64(0), at: key)
    }
    try damage("lists 18446744073709551615 pages in") { file, _, value in
      file.set(UInt64.max, at: value)
    }
    try damage("lists page 1, outside the pages 2 to") { file, _, value in
      let count: UInt64 = file.number(at: value)
      file.set(UInt64(1), at: value + 8 * Int(count))
    }
    try damage("lists page 1048576, outside the pages") { file, _, value in
      file.set(UInt64(1 << 20), at: value + 8)
    }
    try damage("after") { file, _, value in
      let first: UInt64 = file.number(at: value + 8)
      file.set(first, at: value + 16)
    }
    try expect(.sharedPage, "is in use and in the free list", tree: nil) { file in
      let leaf = file.root(ofRecord: file.freeListRecord)
      let root = try file.rootOfTable()
      let value = file.value(leaf, 0)
      // A list of one page, which is in use; the others are lost.
      file.set(UInt64(1), at: value)
      file.set(UInt64(root), at: value + 8)
      return root
    }
  }

  @Test func `a table with several values under one key is a clear error`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try environment.write { transaction in
        let table = try transaction.table("visits", flags: MDB_CREATE | MDB_DUPSORT)
        for value in 0..<20 as Range<UInt8> { try transaction.put([value], forKey: [1], in: table) }
        let plain = try transaction.table("plain")
        try transaction.put([2], forKey: [1], in: plain)
      }
      let walker = try PageWalker(path: path)
      let report = try walker.check()
      #expect(report.problems.map(\.kind) == [.unsupportedTable])
      #expect(report.problems.first?.tree == "table \"visits\"")
      let reads: [() throws -> Void] = [
        { _ = try walker.verify() }, { try walker.forEachEntry(inTable: "visits") { _, _ in } },
      ]
      for read in reads {
        let error = #expect(throws: LMDBError.self) { try read() }
        #expect(error?.code == .incompatibleTable)
        #expect(error?.description.contains("(MDB_DUPSORT)") == true)
      }
      var values: [UInt8] = []
      try walker.forEachEntry(inTable: "plain") { _, value in values.append(value[0]) }
      #expect(values == [2])
    }
  }

  @Test func `a node with several values in a plain table is damage`() throws {
    try expect(.node, "node 0 has flags 0x4, which cannot be here", tree: "table \"odds\"") {
      file in
      let leaf = file.root(ofRecord: try file.record(ofTable: "odds"))
      file.set(UInt16(4), at: file.node(leaf, 0) + 4)
      return leaf
    }
  }

  @Test func `several problems are collected up to the limit, the first is thrown`() throws {
    try withDamaged { file in
      let root = try file.rootOfTable()
      for index in 0..<5 { file.set(UInt16(0), at: file.child(root, index) * file.pageSize + 10) }
    } check: { path in
      let walker = try PageWalker(path: path)
      let report = try walker.check()
      #expect(report.problems.count == 5)
      #expect(!report.stoppedEarly)
      #expect(report.pages.lost == nil)
      #expect(report.tables.filter { !$0.isWhole }.map(\.name) == ["t"])
      let limited = try walker.check(problemLimit: 3)
      #expect(limited.problems == Array(report.problems.prefix(3)))
      #expect(limited.stoppedEarly)
      let texts = try Environment.problems(path: path, limit: 3)
      #expect(texts == limited.problems.map(\.description))
      let error = #expect(throws: LMDBError.self) { try walker.verify() }
      #expect(error?.code == .corrupted)
      let description = String(describing: try #require(error))
      #expect(description.contains("data.mdb: page "))
      #expect(description.hasSuffix(report.problems[0].description))
      #expect(description.contains("(table \"t\"): has flags 0x0;"))
      let fromEntries = #expect(throws: LMDBError.self) {
        try walker.forEachEntry(inTable: "t") { _, _ in }
      }
      #expect(fromEntries == error)
    }
  }
}
