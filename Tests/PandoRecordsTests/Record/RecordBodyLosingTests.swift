import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct RecordBodyLosingTests {
  private static let gone = TreeValue.reference(identifier: "gone", typeName: "T")
  private static let kept = TreeValue.reference(identifier: "kept", typeName: "T")

  @Test(
    arguments: [
      (["a": gone, "b": 1], ["a": .null, "b": 1]),
      (["a": .required(gone)], nil),
      (["a": [gone, 1, kept, gone]], ["a": [1, kept]]),
      (["a": .entries(["x": gone, "y": kept])], ["a": .entries(["y": kept])]),
      (["a": .entries(["x": gone, "y": 7])], ["a": ["y": 7]]),
      (["a": .entries(["x": gone])], ["a": [:]]),
      (["a": ["x": .required(gone), "y": 1]], ["a": .null]),
      (["a": .required(["x": .required(gone)])], nil),
      (["a": .required(["x": gone])], ["a": ["x": .null]]),
      (["a": ["x": gone, "y": kept]], ["a": ["x": .null, "y": kept]]),
      (["a": [["x": .required(gone)], ["x": .required(kept)]]], ["a": [["x": .required(kept)]]]),
      (["a": [[gone], [kept]]], ["a": [[], [kept]]]),
      (["a": .entries(["k": ["x": .required(gone)], "l": [gone]])], ["a": ["l": []]]),
      (["a": ["b": .required(["c": .required(gone)])], "d": 1], ["a": .null, "d": 1]),
      (["a": .required(["b": ["c": .required(gone)]])], ["a": ["b": .null]]),
      (gone, nil), ([gone], []),
    ] as [(TreeValue, TreeValue?)])
  func `a deleted child is lost as its place says`(value: TreeValue, expected: TreeValue?) throws {
    let records = TreeRecords()
    let (body, _) = try records.encode(value)
    let children: Set = [records.number("gone", "T").node]
    switch try RecordBody.losing(children: children, in: body) {
    case .unchanged: Issue.record("unchanged")
    case .lost: #expect(expected == nil)
    case .changed(let changed):
      #expect(try records.decode(changed, depth: 0) == expected)
      try RecordBody.validate(changed)
    }
  }

  @Test func `a record that does not hold the child is unchanged`() throws {
    let records = TreeRecords()
    let (body, _) = try records.encode(["a": Self.kept])
    let children: Set = [records.number("gone", "T").node]
    #expect(try RecordBody.losing(children: children, in: body) == .unchanged)
    #expect(try RecordBody.losing(children: [], in: body) == .unchanged)
  }

  @Test func `a long list shrinks across the widths of its count`() throws {
    let records = TreeRecords()
    let values = (0..<300).map { TreeValue.reference(identifier: "n\($0)", typeName: "T") }
    let (body, _) = try records.encode(["list": .array(values)])
    for count in [1, 44, 45, 276, 277, 300] {
      let children = Set((0..<count).map { records.number("n\($0)", "T").node })
      guard case .changed(let changed) = try RecordBody.losing(children: children, in: body) else {
        Issue.record("\(count)")
        continue
      }
      #expect(try records.decode(changed, depth: 0) == ["list": .array(Array(values[count...]))])
      try RecordBody.validate(changed)
    }
  }

  @Test(arguments: seeds(16))
  func `losses on bytes match losses on values`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for step in 0..<40 {
      let records = TreeRecords()
      var nodes: [TreeNode] = []
      let value = random.storable(depth: 5, nodes: &nodes)
      let (body, edges) = try records.encode(value)
      let references = try records.decode(body, depth: 0)
      let gone = edges.filter { _ in random.chance(1, in: 3) }
      let identifiers = try Set(gone.map { try records.resolve($0.child).identifier })
      let children = Set(gone.map(\.child.node))
      let expected = references.losing(identifiers)
      let comment: Comment = "seed \(seed), step \(step): \(references) losing \(identifiers)"
      switch try RecordBody.losing(children: children, in: body) {
      case .unchanged: #expect(gone.isEmpty, comment)
      case .lost: #expect(expected == nil, comment)
      case .changed(let changed):
        #expect(try records.decode(changed, depth: 0) == expected?.canonical(), comment)
        try RecordBody.validate(changed)
        #expect(try !RecordBody.edges(in: changed).contains { children.contains($0.child.node) })
      }
    }
  }
}

extension TreeValue {
  /// A value without the lost children, or `nil` if it is lost itself: the same rules, without bytes.
  fileprivate func losing(_ identifiers: Set<String>) -> TreeValue? {
    switch self {
    case .reference(let identifier, _):
      return identifiers.contains(identifier) ? nil : self
    case .array(let values):
      return .array(values.compactMap { $0.losing(identifiers) })
    case .entries(let entries):
      return .entries(entries.compactMapValues { $0.losing(identifiers) })
    case .object(let fields):
      var result: [String: TreeValue] = [:]
      for (name, value) in fields {
        if case .required(let content) = value {
          guard let content = content.losing(identifiers) else { return nil }
          result[name] = .required(content)
        } else {
          result[name] = value.losing(identifiers) ?? .null
        }
      }
      return .object(result)
    default:
      return self
    }
  }
}
