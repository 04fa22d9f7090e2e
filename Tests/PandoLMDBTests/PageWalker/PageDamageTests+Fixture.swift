import CPandoLMDB
import Foundation
import PandoFixtures
import PandoLMDB
import Testing

extension PageDamageTests {
  /// Damages a copy of a file and expects a problem on the page that `damage` returns.
  func expect(
    _ kind: PageProblem.Kind, _ message: String, tree: String?? = .none, isExact: Bool = true,
    _ location: SourceLocation = #_sourceLocation, _ damage: (inout PageImage) throws -> Int?
  ) throws {
    var page: Int?
    try withDamaged {
      page = try damage(&$0)
    } check: { path in
      let report = try PageWalker(path: path).check()
      let found = report.problems.first { $0.kind == kind && $0.message.contains(message) }
      guard let found else {
        Issue.record(
          "no \(kind.rawValue) \"\(message)\" in \(report.problems)", sourceLocation: location)
        return
      }
      if isExact {
        #expect(found.pageNumber == page.map { UInt64($0) }, sourceLocation: location)
      }
      if let tree { #expect(found.tree == tree, sourceLocation: location) }
    }
  }

  /// Makes a file with a table of two levels `t` and large values; damages a copy.
  func withDamaged(
    _ damage: (inout PageImage) throws -> Void, check: (String) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment)
      var image = try PageImage(path: path)
      try damage(&image)
      let copy = path + "/copy"
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      try image.write(to: copy)
      try check(copy)
    }
  }

  func fill(_ environment: PageFixture) throws {
    for round in 0..<2 as Range<UInt8> {
      try environment.write { transaction in
        let table = try transaction.table("t")
        for number in 0..<200 as Range<UInt8> {
          let key: [UInt8] = [1, 2, 3, 4, 5, 6, 7, number]
          try transaction.put([UInt8](repeating: round, count: 100), forKey: key, in: table)
        }
        let large = try transaction.table("large")
        try transaction.put([UInt8](repeating: 3, count: 10_000), forKey: [1], in: large)
        let odd = try transaction.table("odds")
        try transaction.put([1], forKey: [1, 2, 3], in: odd)
        try transaction.put([UInt8](repeating: 5, count: 600), forKey: [2], in: odd)
      }
    }
  }
}

extension PageImage {
  func rootOfTable() throws -> Int {
    root(ofRecord: try record(ofTable: "t"))
  }

  /// The first page of the value of the table `large`.
  func overflowRun() throws -> Int {
    let leaf = root(ofRecord: try record(ofTable: "large"))
    return Int(number(at: value(leaf, 0)) as UInt64)
  }

  /// The pages in use, but for the meta pages; an overflow run counts with its second page, where
  /// the walker finds that the rest of it is missing.
  func usedPages() throws -> [Int] {
    let records =
      try [freeListRecord, mainRecord]
      + ["t", "large", "odds"].map { try record(ofTable: $0) }
    let tableRoot = try rootOfTable()
    return records.map { root(ofRecord: $0) }
      + (0..<nodeCount(tableRoot)).map { child(tableRoot, $0) }
      + [try overflowRun() + 1]
  }
}
