import CPandoLMDB
import Foundation
import PandoFixtures
import PandoLMDB
import Testing

/// Walks while others commit.
@Suite struct PageWalkerVersionTests {
  @Test func `a walk during which others commit twice is done again`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      var walks = 0
      let report = try PageWalker(path: path).check { seen, total in
        guard seen == total else { return }
        walks += 1
        if walks == 1 {
          try fill(environment, value: 2)
          try fill(environment, value: 3)
        }
      }
      #expect(walks == 2)
      #expect(report.isClean)
      #expect(report.transactionID == 3)
    }
  }

  @Test func `one commit during a walk does no harm`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      var walks = 0
      let report = try PageWalker(path: path).check { seen, total in
        guard seen == total else { return }
        walks += 1
        try fill(environment, value: 2)
      }
      #expect(walks == 1)
      #expect(report.isClean)
      #expect(report.transactionID == 1)
    }
  }

  @Test func `a file that changes during every walk is a clear error`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      let error = #expect(throws: LMDBError.self) {
        try PageWalker(path: path).check { _, _ in
          try fill(environment, value: 2)
          try fill(environment, value: 3)
        }
      }
      #expect(error?.code == .changedMeanwhile)
      #expect(String(describing: try #require(error)).contains("hold a read transaction"))
    }
  }

  @Test func `a read transaction protects the version that is walked`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      try environment.read { transaction in
        let walker = try PageWalker(path: path)
        let report = try walker.check(.transaction(transaction.id)) { _, _ in
          for value in 2..<6 as Range<UInt8> { try fill(environment, value: value) }
        }
        #expect(report.isClean)
        #expect(report.transactionID == 1)
        // By now the meta page of that version has been overwritten.
        let error = #expect(throws: LMDBError.self) {
          try walker.check(.transaction(transaction.id))
        }
        #expect(error?.code == .changedMeanwhile)
      }
    }
  }

  @Test func `entries of a protected version are all of that version`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      try environment.read { transaction in
        var values: Set<UInt8> = []
        var count: UInt8 = 0
        let version = PageWalker.Version.transaction(transaction.id)
        try PageWalker(path: path).forEachEntry(inTable: "t", version: version) { _, value in
          values.insert(value[0])
          count += 1
          if count < 8 { try fill(environment, value: count + 1) }
        }
        #expect(values == [1])
        #expect(count == 200)
      }
    }
  }

  @Test func `entries whose pages were reused end in an error`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      var count: UInt8 = 0
      let error = #expect(throws: LMDBError.self) {
        try PageWalker(path: path).forEachEntry(inTable: "t") { _, _ in
          count += 1
          if count < 8 { try fill(environment, value: count + 1) }
        }
      }
      #expect(error?.code == .changedMeanwhile)
    }
  }

  @Test func `walks beside a writer are clean or say that the file changed`() throws {
    try withTemporaryDirectory { path in
      let environment = try PageFixture(path: path)
      try fill(environment, value: 1)
      let writer = PageWriter { round in
        try fill(environment, value: UInt8(truncatingIfNeeded: round))
      }
      defer { writer.stop() }
      let walker = try PageWalker(path: path)
      var cleanCount = 0
      for _ in 0..<200 {
        do {
          let report = try walker.check()
          #expect(report.problems == [])
          cleanCount += 1
        } catch let error as LMDBError {
          #expect(error.code == .changedMeanwhile)
        }
        let held = try environment.read { transaction in
          try? walker.check(.transaction(transaction.id))
        }
        #expect(held?.problems ?? [] == [])
      }
      #expect(writer.stop() == nil)
    }
  }

  /// Rewrites a table of about 9 pages.
  private func fill(_ environment: PageFixture, value: UInt8) throws {
    try environment.write { transaction in
      let table = try transaction.table("t")
      for number in 0..<200 as Range<UInt8> {
        try transaction.put(
          [value] + [UInt8](repeating: value, count: 99), forKey: [7, number], in: table)
      }
    }
  }
}
