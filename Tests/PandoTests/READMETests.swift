import Foundation
import Pando
import Testing

@Suite struct READMETests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let root = tests.deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the example does what its comment says`() throws {
    let store = try ModelStore.temporary()
    let message = try changeOnePerson(in: store)
    #expect(message?.author == Person(id: 12, name: "Ada", isOnline: true))
  }

  @Test func `the README shows the example as it is compiled here`() throws {
    let readme = try String(
      contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let example = try String(
      contentsOf: Self.tests.appendingPathComponent("READMEExample.swift"), encoding: .utf8)
    #expect(readme.contains("```swift\n\(example)```"))
  }

  @Test func `the page on stores of several machines shows its example`() throws {
    let docs = Self.root.appendingPathComponent("docs")
    let page = try String(
      contentsOf: docs.appendingPathComponent("replication.md"), encoding: .utf8)
    let example = try String(
      contentsOf: docs.appendingPathComponent("examples/replication/SharedList.swift"),
      encoding: .utf8)
    let blocks = page.components(separatedBy: "```swift\n").dropFirst()
    #expect(blocks.count == 2)
    for block in blocks {
      let code = block.components(separatedBy: "```")[0]
      #expect(example.contains(code), "\(code)")
    }
  }

  @Test(arguments: ["run", "test"])
  func `each of the two commands stands in one complete block`(name: String) throws {
    let readme = try String(
      contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let blocks = readme.components(separatedBy: "```sh \(name)\n")
    try #require(blocks.count == 2, "one block with the info string sh \(name)")
    let lines = blocks[1].components(separatedBy: "```")[0]
    #expect(lines.contains("apt-get install -y liblmdb-dev"))
    #expect(lines.contains("swift \(name)"))
  }
}
