import Foundation
import PandoFixtures
import ServiceFixtures
import Testing

@Suite struct READMETests {
  private func section() throws -> READMESection {
    try READMESection("Without a server: library")
  }

  @Test func `the lines in the README are those that the story prints`() async throws {
    let shown = try section().lines(of: "text")
    #expect(shown.count == 15)
    let told = try await Library.run().lines
    for line in shown { #expect(told.contains(line), "\(line)") }
  }

  @Test func `the entity in the README is the one in the source`() throws {
    let url = URL(fileURLWithPath: #filePath)
      .appendingPathComponent("../../../Sources/library/Models.swift")
    let source = try String(contentsOf: url.standardized, encoding: .utf8)
    let code = try section().lines(of: "swift").joined(separator: "\n")
    #expect(!code.isEmpty)
    #expect(source.contains(code))
  }
}
