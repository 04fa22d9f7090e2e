import Foundation
import PandoFixtures
import Testing

@Suite struct READMETests {
  /// The README's section on the library.
  private func section() throws -> String {
    let url = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../README.md")
    let readme = try String(contentsOf: url.standardized, encoding: .utf8)
    let rest = try #require(readme.components(separatedBy: "\n## Without a server: library\n").last)
    return try #require(rest.components(separatedBy: "\n## ").first)
  }

  @Test func `the lines in the README are those that the story prints`() async throws {
    let shown = try section().components(separatedBy: "```text\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
      .flatMap { $0.components(separatedBy: "\n") }
    #expect(shown.count == 8)
    let told = try await Library.run().lines
    for line in shown { #expect(told.contains(line), "\(line)") }
  }

  @Test func `the entity in the README is the one in the source`() throws {
    let url = URL(fileURLWithPath: #filePath)
      .appendingPathComponent("../../../Sources/library/Models.swift")
    let source = try String(contentsOf: url.standardized, encoding: .utf8)
    let code = try #require(
      section().components(separatedBy: "```swift\n").last?.components(separatedBy: "\n```").first)
    #expect(source.contains(code))
  }
}
