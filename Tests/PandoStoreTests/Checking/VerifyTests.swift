import PandoFixtures
import PandoLMDB
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// `verify` finds whatever breaks a rule of the store, and names it.
@Suite struct VerifyTests {
  @Test func `a store that others write to all the time is verified by its path`() throws {
    try withTemporaryDirectory { path in
      let writer = try ChildProcess("PandoStoreTestProcess", ["write-people", path])
      try writer.write("set 1 Ada\n")
      #expect(writer.nextLine() == "done")
      try writer.write("rename 1 100000000\n")
      let first = try ModelStore.verify(path: path)
      #expect(first.problems == [])
      for _ in 0..<10 { #expect(try ModelStore.verify(path: path).problems == []) }
      #expect(try ModelStore.verify(path: path).commitNumber > first.commitNumber)
      for verifying in [StoreConfiguration.Verification.pages, .everything] {
        var configuration = StoreConfiguration.forTests
        configuration.verifying = verifying
        try ModelStore(path: path, configuration: configuration).close()
      }
      writer.kill()
    }
  }

  @Test(
    arguments: RowDamage.ofNodes + RowDamage.ofRecords + RowDamage.ofTypes
      + RowDamage.ofCollections + RowDamage.ofCounters)
  func `verify finds damaged rows`(damage: RowDamage) throws {
    let store = try RowDamage.makeStore()
    #expect(try store.verify().problems == [])
    try store.editRows(damage.apply)
    let problems = try store.verify().problems
    #expect(
      problems.contains {
        (damage.subject.isEmpty || $0.subject == damage.subject)
          && $0.reason.contains(damage.reason)
      }, "\(problems)")
  }

  @Test func `verify counts the checked parts`() throws {
    let store = try RowDamage.makeStore()
    let report = try store.verify()
    #expect(report.isClean)
    #expect(report.commitNumber.value == 4)
    #expect(report.nodeCount == 3)
    #expect(report.recordCount == 3)
    #expect(report.edgeCount == 4)
    #expect(report.collectionCount == 1)
    #expect(report.elementCount == 3)
    #expect(report.pageCount > 10)
  }

  @Test func `verify stops at a hundred problems`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    try store.write { transaction in
      for id in 0..<150 { try transaction.set(TreeNode("leaf:\(id)", type: "Leaf")) }
    }
    try store.editRows { try $0.removeAll(in: $1.nodesByType) }
    #expect(try store.verify().problems.count == VerificationReport.problemCountMaximum)
  }

  @Test func `verify reports its progress`() throws {
    let store = try RowDamage.makeStore()
    var stages: [StoreProgress.Stage] = []
    let report = try store.verify { progress in
      #expect(progress.completedCount <= progress.totalCount)
      if stages.last != progress.stage { stages.append(progress.stage) }
    }
    #expect(report.isClean)
    #expect(stages == [.pages, .records, .collections, .edges])
  }

  @Test func `verify repairs nothing`() throws {
    try withTemporaryDirectory { path in
      let store = try ModelStore(path: path, configuration: .forTests)
      try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
      try store.editRows { try $0.remove(Array("a".utf8), in: $1.identifiers) }
      let problems = try store.verify().problems
      #expect(try store.verify().problems == problems)
      store.close()
      #expect(try ModelStore.verify(path: path).problems == problems)
    }
  }

  @Test func `verify checks one version while others write`() throws {
    let store = try RowDamage.makeStore()
    let isOver = Locked(false)
    try onThreads(2) { thread in
      if thread == 0 {
        defer { isOver.withLock { $0 = true } }
        for id in 0..<300 {
          try store.write { try $0.set(TreeNode("leaf:\(id)", type: "Leaf")) }
          try store.write { try $0.deleteIfPresent("leaf:\(id - 10)") }
        }
      } else {
        while !isOver.value {
          let problems = try store.verify().problems
          #expect(problems == [])
        }
      }
    }
  }
}
