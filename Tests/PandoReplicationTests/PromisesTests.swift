import Foundation
import Testing

/// The promises of docs/replication.md, each of which names a test.
@Suite struct PromisesTests {
  private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `every promise names a test that is there`() throws {
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/replication.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "## What is promised\n").last)
    let rows = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
      .filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count >= 10)
    let sources = try self.sources()
    for row in rows {
      let test = try #require(row.split(separator: "|").last).trimmingCharacters(in: .whitespaces)
      let suite = test.prefix { $0 != " " }
      let name = test.drop { $0 != "“" }.dropFirst().prefix { $0 != "”" }
      let source = try #require(sources["\(suite).swift"], "\(row)")
      #expect(!name.isEmpty && source.contains("`\(name)`"), "\(row)")
    }
  }

  /// The sources of the tests, by the names of their files.
  private func sources() throws -> [String: String] {
    var sources: [String: String] = [:]
    let folder = root.appendingPathComponent("Tests/PandoReplicationTests")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      sources[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
    }
    return sources
  }
}
