import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct RecordBodyMergingTests {
  private static func old(_ name: String) -> TreeValue {
    .reference(identifier: name, typeName: "Old")
  }
  private static func new(_ name: String) -> TreeValue {
    .reference(identifier: name, typeName: "New")
  }

  @Test(
    arguments: [
      // Fields of both flow, others stay.
      (["a": 1, "b": 2], ["b": 3, "c": 4], ["a": 1, "b": 3]),
      (["a": 1], ["b": 2], nil), (["a": 1], ["a": 1], nil),
      // The node is the new one, its type and the kind of slot are the old ones.
      (["a": .required(old("x"))], ["a": new("y")], ["a": .required(old("y"))]),
      (["a": old("x")], ["a": .required(new("y"))], ["a": old("y")]),
      (["a": old("x")], ["a": new("x")], nil),
      (["a": .null], ["a": .required(new("y"))], ["a": new("y")]),
      (
        ["a": [old("x")]], ["a": [new("y"), new("x"), new("z")]],
        ["a": [old("y"), old("x"), old("z")]]
      ),
      (["a": []], ["a": [new("y")]], ["a": [new("y")]]),
      (
        ["a": .entries(["k": old("x")])], ["a": .entries(["l": new("y")])],
        ["a": .entries(["l": old("y")])]
      ),
      (["a": .entries(["k": old("x")])], ["a": [:]], ["a": [:]]),
      // The same inside of values without identifier.
      (
        ["a": ["b": .required(old("x"))]], ["a": .required(["b": new("y"), "c": 1])],
        ["a": ["b": .required(old("y")), "c": 1]]
      ),
      (
        ["a": .required(["b": old("x")])], ["a": ["b": new("y")]], ["a": .required(["b": old("y")])]
      ),
      (
        ["a": [["b": .null], ["b": old("x")]]], ["a": [["b": .required(new("y"))]]],
        ["a": [["b": old("y")]]]
      ),
      (["a": .null], ["a": .required(["b": new("y")])], ["a": ["b": new("y")]]),
      // A child that has an identifier now, or none any more.
      (["a": ["n": 1]], ["a": new("y")], ["a": new("y")]),
      (["a": old("x")], ["a": ["n": 1]], ["a": ["n": 1]]),
      // Null.
      (["a": old("x")], ["a": .null], ["a": .null]),
      (["a": "text"], ["a": .null], ["a": .null]),
      (["a": .null], ["a": "text"], ["a": "text"]),
      // A number for a number that the old type can read.
      (["a": 1.5], ["a": 2], ["a": 2]), (["a": 1], ["a": 2.0], ["a": 2.0]),
    ] as [(TreeValue, TreeValue, TreeValue?)])
  func `the fields of a projection flow into another`(
    old: TreeValue, new: TreeValue, expected: TreeValue?
  ) throws {
    let (merge, merged) = try merge(new, into: old)
    #expect(merged == expected)
    #expect(merge.keptFields.isEmpty)
    #expect(merge.changedFields.isEmpty == (expected == nil))
  }

  @Test(
    arguments: [
      (["a": "text"], ["a": 1]), (["a": 1], ["a": 1.5]), (["a": .required(old("x"))], ["a": .null]),
      (["a": .required(["b": old("x")])], ["a": .null]), (["a": "text"], ["a": new("y")]),
      (["a": [1]], ["a": ["b": 1]]), (["a": .tagged(37, .bytes([1]))], ["a": "text"]),
      (["a": .bytes([1])], ["a": "text"]), (["a": true], ["a": 1]),
      (["a": 5], ["a": .double(.nan)]),
    ] as [(TreeValue, TreeValue)])
  func `a value of another kind does not flow`(old: TreeValue, new: TreeValue) throws {
    let (merge, _) = try merge(new, into: old)
    #expect(merge == RecordMerge(body: nil, changedFields: [], keptFields: ["a"]))
  }

  @Test func `an update brings all its fields`() throws {
    let old: TreeValue = [
      "a": 1, "b": "text", "c": .required(Self.old("x")), "d": Self.old("x"), "z": 9,
    ]
    let new: TreeValue = [
      "aa": [1], "b": 2, "c": Self.new("y"), "d": Self.new("x"), "e": ["k": Self.new("y")],
    ]
    let (merge, merged) = try merge(new, into: old, policy: .update)
    let expected: TreeValue = [
      "a": 1, "aa": [1], "b": 2, "c": .required(Self.new("y")), "d": Self.new("x"),
      "e": ["k": Self.new("y")], "z": 9,
    ]
    #expect(merged == expected)
    #expect(merge.changedFields == ["b", "c", "d", "e", "aa"])
    let (nothing, _) = try self.merge(["a": 1, "z": 9], into: old, policy: .update)
    #expect(nothing == RecordMerge())
  }

  @Test func `an update grows an object across the widths of its count`() throws {
    let old = Dictionary(
      uniqueKeysWithValues: (0..<20).map { ("o\($0)", TreeValue(integerLiteral: $0)) })
    let new = Dictionary(
      uniqueKeysWithValues: (0..<20).map { ("n\($0)", TreeValue(integerLiteral: $0)) })
    let (_, merged) = try merge(.object(new), into: .object(old), policy: .update)
    #expect(merged == .object(old.merging(new) { $1 }))
  }

  @Test func `named fields are left alone`() throws {
    let (merge, merged) = try merge(["a": 2, "b": 2], into: ["a": 1, "b": 1], leaving: ["a"])
    #expect(merged == ["a": 1, "b": 2])
    #expect(merge.changedFields == ["b"])
  }

  @Test func `a body that is no object takes part as a whole`() throws {
    #expect(try merge([1], into: [2]).1 == nil)
    #expect(try merge([1], into: [2], policy: .update).1 == [1])
    #expect(try merge([1], into: [1], policy: .update).1 == nil)
  }

  @Test(arguments: seeds(16))
  func `a merged body is a record and merging it again changes nothing`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for step in 0..<20 {
      let records = TreeRecords()
      var nodes: [TreeNode] = []
      let oldFields = random.storableFields(depth: 4, nodes: &nodes)
      var newFields = random.storableFields(depth: 4, nodes: &nodes)
      for (name, value) in oldFields.sorted(by: { $0.key < $1.key }) where random.chance(1, in: 2) {
        newFields[name] = random.chance(1, in: 3) ? value : random.storable(depth: 3, nodes: &nodes)
      }
      let old = try records.encode(.object(oldFields)).body
      let new = try records.encode(.object(newFields)).body
      for policy in [RecordMerge.Policy.projection, .update] {
        let merge = try RecordBody.merging(new, into: old, policy: policy)
        let merged = merge.body ?? old
        try RecordBody.validate(merged)
        let names = try Set(records.decode(merged, depth: 0).objectValue?.keys ?? [:].keys)
        let expected =
          policy == .update
          ? Set(oldFields.keys).union(newFields.keys) : Set(oldFields.keys)
        #expect(names == expected, "seed \(seed), step \(step)")
        let again = try RecordBody.merging(new, into: merged, policy: policy)
        #expect(
          again.body == nil,
          "seed \(seed), step \(step): \(newFields) into \(oldFields) by \(policy)")
        #expect(try RecordBody.merging(old, into: old, policy: policy) == RecordMerge())
      }
    }
  }

  private func merge(
    _ new: TreeValue, into old: TreeValue, policy: RecordMerge.Policy = .projection,
    leaving names: Set<String> = []
  ) throws -> (RecordMerge, TreeValue?) {
    let records = TreeRecords()
    let merge = try RecordBody.merging(
      records.encode(new).body, into: records.encode(old).body, policy: policy, leaving: names)
    if let body = merge.body { try RecordBody.validate(body) }
    return (merge, try merge.body.map { try records.decode($0, depth: 0) })
  }
}
