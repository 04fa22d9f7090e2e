import PandoFixtures
import PandoLMDB
import Testing

extension PageDamageTests {
  @Test func `a file that has lost pages can't be copied with compaction`() throws {
    try withDamaged { file in
      // The last page of the list is neither used nor free from now on.
      let value = file.value(file.root(ofRecord: file.freeListRecord), 0)
      let count: UInt64 = file.number(at: value)
      file.set(count - 1, at: value)
    } check: { path in
      let report = try PageWalker(path: path).check()
      #expect(report.problems == [])
      #expect(report.pages.lost == 1)
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      expectError(.incompatibleTable) {
        try environment.copy(to: path + "/compact", compacting: true)
      }
      // A plain copy is as good as the file.
      try environment.copy(to: path + "/plain")
      #expect(try PageWalker(path: path + "/plain").check().pages.lost == 1)
    }
  }
}
