import Foundation
import PandoModels
import Testing

@testable import PandoRecords

/// Records whose references carry names, and the merge of three versions of them.
@Suite struct NodeRecordsTests {
  private func records(_ fields: TreeValue) throws -> NodeRecords {
    try NodeRecords([TreeNode("a:1", type: "A", fields: fields)])
  }

  private func undone(
    _ now: TreeValue, _ before: TreeValue, _ after: TreeValue, dictionaries: [String] = []
  ) throws -> TreeValue? {
    let places = dictionaries.map { name in
      NodeRecords.place([0x60 + UInt8(name.utf8.count)] + Array(name.utf8), in: "A")
    }
    return try records(now).undoing(
      from: records(before), to: records(after), dictionaries: Set(places)
    ).trees("a:1").first?.fields
  }

  private func person(_ number: Int) -> TreeValue {
    .reference(identifier: "p:\(number)", typeName: "P")
  }

  @Test func `a reference carries identifier and type name`() throws {
    let found = try records(["p": person(1)])
    let body: [UInt8] =
      [0xa1, 0x61, 0x70, 0xd9, 0x50, 0x42, 0x82, 0x63] + Array("p:1".utf8) + [0x61]
      + Array("P".utf8)
    #expect(found.records.map(\.body) == [body])
    #expect(try found.references == [ByteString("p:1")])
    #expect(try found.trees("a:1").first?.fields == ["p": person(1)])
  }

  @Test(arguments: 0..<UInt64(200))
  func `untyped records and records with names are the same`(seed: UInt64) throws {
    var generator = TreeGenerator(seed: seed)
    var nodes: [TreeNode] = []
    let found = try records(.object(generator.storableFields(depth: 4, nodes: &nodes)))
    let tree = try #require(try found.trees("a:1").first)
    #expect(try NodeRecords([tree]) == found)
    let copy = try JSONDecoder().decode(NodeRecords.self, from: JSONEncoder().encode(found))
    #expect(copy == found)
  }

  @Test func `a node gets another name in references and values`() throws {
    var record = try #require(
      try records(["p": person(1), "text": "local:1", "other": "local:12"]).records.first)
    var value = CBORWriter()
    value.append(UInt64(7))
    try record.rename("p:1", to: "p:7", "local:1", to: value.bytes)
    var found = NodeRecords()
    found.records = [record]
    let expected: TreeValue = ["p": person(7), "text": 7, "other": "local:12"]
    #expect(try found.trees("a:1").first?.fields == expected)
  }

  @Test func `a removal leaves the bytes of a record`() throws {
    let found = try records(["p": person(1), "list": [person(1), person(2)]])
    let left = try found.losing([ByteString("p:1")].contains)
    #expect(try left == records(["p": .null, "list": [person(2)]]))
    let required = try records(["p": .required(person(1))])
    #expect(try required.losing([ByteString("p:1")].contains) == nil)
    #expect(try required.losing([ByteString("p:2")].contains) == required)
  }

  @Test func `later changes stay in fields, dictionaries and lists`() throws {
    #expect(
      try undone(["x": 2, "y": 5, "z": 9], ["x": 1, "y": 1], ["x": 2, "y": 2])
        == ["x": 1, "y": 5, "z": 9])
    #expect(
      try undone(["l": ["a", "r", "d"]], ["l": ["a", "b"]], ["l": ["a", "r"]])
        == ["l": ["a", "b", "d"]])
  }

  @Test func `a move is taken back beside what came in since`() throws {
    #expect(
      try undone(["l": ["b", "a", "c"]], ["l": ["a", "b"]], ["l": ["b", "a"]])
        == ["l": ["a", "b", "c"]])
  }

  @Test func `an element that was put back since is not there twice`() throws {
    #expect(
      try undone(["l": ["y", "x"]], ["l": ["x", "y"]], ["l": ["y"]]) == ["l": ["x", "y"]])
  }

  @Test func `no two cases of an enum come side by side, also with a node inside`() throws {
    func phase(_ name: String, _ number: Int) -> TreeValue {
      ["phase": .object([name: .object(["_0": .required(person(number))])])]
    }
    #expect(
      try undone(phase("done", 3), phase("waiting", 1), phase("running", 2)) == phase("done", 3))
  }

  @Test func `entries of a dictionary with one entry come side by side`() throws {
    let found = try undone(
      ["d": ["c": ["n": 3]]], ["d": ["a": ["n": 1]]], ["d": ["b": ["n": 2]]], dictionaries: ["d"])
    #expect(found == ["d": ["a": ["n": 1], "c": ["n": 3]]])
  }
}
