import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct TreeCodingTests {
  @Test(
    arguments: [
      (.null, "f6"), (.bool(false), "f4"), (.bool(true), "f5"), (0, "00"), (23, "17"), (24, "1818"),
      (-1, "20"), (.integer(.min), "3b7fffffffffffffff"), (.unsigned(.max), "1bffffffffffffffff"),
      (1.5, "f93e00"), (100000.0, "fa47c35000"), (1.1, "fb3ff199999999999a"), (-0.0, "f98000"),
      (.double(.nan), "f97e00"), (.double(.infinity), "f97c00"), ("é", "62c3a9"),
      (.double(.signalingNaN), "f97d00"), (.bytes([1, 2]), "420102"), ([], "80"),
      ([:], "a0"), ([1, [2]], "82018102"), (["b": 1, "aa": 2, "a": 3], "a36161036162016261 6102"),
      (.tagged(32, "x"), "d8206178"),
      (.tagged(2, .bytes([0, 1])), "01"),
      (
        .tagged(3, .bytes([255, 0, 0, 0, 0, 0, 0, 0])),
        "3bff00000000000000"
      ),
      (.tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])), "c249010000000000000000"),
      (.entries([1: 2]), "a10102"), (.entries(["a": 1]), "a1616101"), (.required(1), "01"),
    ] as [(TreeValue, String)])
  func `each value has its bytes`(value: TreeValue, expected: String) throws {
    let (body, edges) = try TreeRecords().encode(value)
    #expect(hexadecimal(body) == expected.filter { $0 != " " })
    #expect(edges.isEmpty)
    try RecordBody.validate(body)
  }

  @Test func `a child is a reference whose tag says how it is lost`() throws {
    let records = TreeRecords()
    let child = TreeValue.node(TreeNode("c", type: "T"))
    let value: TreeValue = [
      "a": child, "b": .required(child), "c": [child], "d": .entries(["k": child]),
      "e": ["x": child], "f": .required(["x": .required(child)]), "g": [["x": child]],
      "h": .required([.required(child)]),
    ]
    let (body, edges) = try records.encode(value)
    let expected = """
      a8 6161 d95042 820000  6162 d95041 820000  6163 81 d95041 820000
      6164 d95044 a1 616b d95041 820000  6165 d95043 a1 6178 d95042 820000
      6166 a1 6178 d95041 820000  6167 81 a1 6178 d95042 820000  6168 81 d95041 820000
      """
    #expect(hexadecimal(body) == expected.filter { !$0.isWhitespace })
    let reference = RecordReference(node: 0, type: 0)
    #expect(
      edges
        == [RecordEdge(child: reference, kinds: [.required, .optional, .element, .entry])])
    #expect(try RecordBody.edges(in: body) == edges)
    #expect(try records.decode(body) == value.canonical())
    try RecordBody.validate(body)
  }

  @Test func `nodes begin before the nodes in them and end after`() throws {
    let records = TreeRecords()
    let node = TreeNode(
      "a", type: "T",
      fields: [
        "zz": .node(TreeNode("c", type: "T")),
        "y": .node(
          TreeNode("b", type: "T", fields: ["x": .reference(identifier: "d", typeName: "T")])),
      ])
    _ = try records.encode(node)
    #expect(
      records.log == ["begin a", "begin b", "refer d", "end b", "begin c", "end c", "end a"])
  }

  @Test func `a depth leaves the nodes below it references`() throws {
    let records = TreeRecords()
    let leaf = TreeNode("c", type: "T", fields: ["n": 3])
    let middle = TreeNode("b", type: "T", fields: ["child": .node(leaf), "n": 2])
    let root = TreeNode("a", type: "T", fields: ["child": .required(.node(middle)), "n": 1])
    let reference = try records.encode(root)
    #expect(try records.decode(reference) == .node(root))
    #expect(try records.decode(reference, depth: 2) == .node(root))
    var expected = root
    expected["child"]?["child"] = .reference(identifier: "c", typeName: "T")
    #expect(try records.decode(reference, depth: 1) == .node(expected))
    expected["child"] = .required(.reference(identifier: "b", typeName: "T"))
    #expect(try records.decode(reference, depth: 0) == .node(expected))
  }

  @Test(arguments: seeds(16))
  func `every tree is read back equal from its records`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for step in 0..<40 {
      let records = TreeRecords()
      var nodes: [TreeNode] = []
      let value = random.storable(depth: 5, nodes: &nodes)
      let (body, edges) = try records.encode(value)
      try #require(
        try records.decode(body) == value.canonical(), "seed \(seed), step \(step): \(value)")
      try RecordBody.validate(body)
      #expect(try RecordBody.edges(in: body) == edges)
      for (reference, body) in records.bodies {
        try RecordBody.validate(body)
        #expect(try RecordBody.edges(in: body) == records.edges[reference])
      }
      // What came back has the same bytes.
      #expect(try records.encode(records.decode(body)).body == body)
    }
  }

  @Test(arguments: seeds(8))
  func `equal values have equal hashes however they were made`(seed: UInt64) {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<60 {
      let fields = random.fields { $0.anyValue(depth: 2) }
      let value = TreeValue.object(fields)
      var rebuilt: [String: TreeValue] = [:]
      rebuilt.reserveCapacity(64)
      for name in fields.keys.sorted(by: >) { rebuilt[name] = fields[name] }
      #expect(TreeValue.object(rebuilt) == value)
      #expect(TreeValue.object(rebuilt).hashValue == value.hashValue)
    }
  }

  @Test func `a node in itself is refused, by its content or by reference`() throws {
    let inner = TreeNode("a", type: "T")
    let byContent = TreeNode("a", type: "T", fields: ["x": [.node(inner)]])
    let byReference = TreeNode(
      "a", type: "T",
      fields: [
        "x": .node(
          TreeNode("b", type: "T", fields: ["y": .reference(identifier: "a", typeName: "T")]))
      ])
    for node in [byContent, byReference] {
      let error = try #require(throws: ModelError.self) { try TreeRecords().encode(node) }
      #expect(error.code == .cyclicModel)
      #expect(error.identifier == "a")
    }
    let spelledTwice = TreeNode(
      "\u{e9}", type: "T", fields: ["x": .node(TreeNode("e\u{301}", type: "T"))])
    _ = try TreeRecords().encode(spelledTwice)
  }

  @Test func `a value that a record cannot hold is refused`() throws {
    let child = TreeValue.reference(identifier: "c", typeName: "T")
    let cases: [(TreeValue, ModelError.Code)] = [
      (.node(TreeNode("", type: "T")), .emptyIdentifier),
      (.reference(identifier: "", typeName: "T"), .emptyIdentifier),
      (.tagged(100, child), .typeMismatch),
      (.tagged(20545, [1, 2]), .typeMismatch),
      (.tagged(20548, [:]), .typeMismatch),
      (.entries([[child]: 1]), .typeMismatch),
      (.entries([5: 1, .unsigned(5): 2]), .typeMismatch),
    ]
    for (value, code) in cases {
      let error = try #require(throws: ModelError.self) { try TreeRecords().encode(value) }
      #expect(error.code == code, "\(value)")
    }
    let node = TreeNode("n", type: "N", fields: ["x": .tagged(100, child)])
    let error = try #require(throws: ModelError.self) { try TreeRecords().encode(node) }
    #expect(error.identifier == "n" && error.typeName == "N" && error.field == "x")
  }

  @Test func `two spellings of one key stay two keys`() throws {
    let value: TreeValue = .entries(["\u{e9}": 1, "e\u{301}": 2])
    let records = TreeRecords()
    #expect(try records.decode(records.encode(value).body) == value)
  }

  @Test func `a node that occurs often is decoded once`() throws {
    let records = TreeRecords()
    var reference = try records.encode(TreeNode("n0", type: "T", fields: ["n": 0]))
    // 2 to the 40th paths lead to n0.
    for level in 1...40 {
      let below = TreeValue.reference(identifier: "n\(level - 1)", typeName: "T")
      reference = try records.encode(
        TreeNode("n\(level)", type: "T", fields: ["a": below, "b": [below]]))
    }
    var value: TreeValue? = try records.decode(reference)
    for _ in 1...40 { value = value?["b"]?[0] }
    #expect(value?["n"] == 0)
  }

  @Test(
    arguments: [
      { .array([$0]) }, { .object(["a": $0]) }, { .entries(["a": $0]) },
      { .required(.object(["a": .required($0)])) },
    ] as [@Sendable (TreeValue) -> TreeValue])
  func `nesting up to the limit fits on the smallest stack`(
    make: @escaping @Sendable (TreeValue) -> TreeValue
  ) throws {
    let limit = RecordLimits.maximumNestingDepth
    @Sendable func nested(_ identifier: String, levels: Int) -> TreeValue {
      let child = TreeValue.array([.reference(identifier: identifier, typeName: "T")])
      return (1..<levels).reduce(child) { value, _ in make(value) }
    }
    let value = nested("c", levels: limit)
    let (decoded, read) = try onSmallStack {
      let records = TreeRecords()
      let body = try records.encode(value).body
      try RecordBody.validate(body)
      let edges = try RecordBody.edges(in: body)
      #expect(edges.count == 1)
      let loss = try RecordBody.losing(children: [0], in: body)
      #expect(loss != .unchanged)
      let old = try records.encode(["x": nested("c", levels: limit - 1)]).body
      let new = try records.encode(["x": nested("d", levels: limit - 1)]).body
      let merged = try RecordBody.merging(new, into: old).body
      #expect(merged == new)
      let tooDeep = nested("c", levels: limit + 1)
      let error = try #require(throws: ModelError.self) { try records.encode(tooDeep) }
      #expect(error.code == .nestingTooDeep)
      let json = value.json(.lossless)
      return (try records.decode(body), try TreeValue(json: json, form: .lossless))
    }
    #expect(decoded == value.canonical())
    #expect(read == value)
  }

  /// Found by `fuzz-records`, which took it for a body that can't be.
  @Test func `a body nested deeper than is ever written is read, and refused when written again`()
    throws
  {
    let (tagOfText, one): (UInt8, UInt8) = (0xc0, 0x01)
    let records = TreeRecords()
    for (levels, isWritten, isRead) in [(128, true, true), (129, false, true), (137, false, false)]
    {
      let body = [UInt8](repeating: tagOfText, count: levels) + [one]
      guard isRead else {
        let error = try #require(throws: ModelError.self) { try records.decode(body) }
        #expect(error.code == .nestingTooDeep)
        continue
      }
      try RecordBody.validate(body)
      let value = try records.decode(body)
      if isWritten {
        #expect(try records.encode(value).body == body)
      } else {
        let error = try #require(throws: ModelError.self) { try records.encode(value) }
        #expect(error.code == .nestingTooDeep)
      }
    }
  }

  @Test func `a chain of records beyond the limit is an error`() throws {
    try onSmallStack {
      let records = TreeRecords()
      var reference = try records.encode(TreeNode("n0", type: "T"))
      for index in 1...RecordLimits.maximumNodeDepth {
        let below = TreeValue.reference(identifier: "n\(index - 1)", typeName: "T")
        reference = try records.encode(TreeNode("n\(index)", type: "T", fields: ["x": below]))
      }
      let error = try #require(throws: ModelError.self) { try records.decode(reference) }
      #expect(error.code == .nestingTooDeep)
      #expect(try records.decode(reference, depth: 20)["x"]?["x"]?.nodeValue != nil)
    }
  }

  /// Runs a body on a thread with the stack a second thread has on systems that are sparing.
  private func onSmallStack<Output>(_ body: @escaping @Sendable () throws -> Output) throws
    -> Output
  {
    let semaphore = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Output, any Error>?  // read after the wait
    let thread = Thread {
      result = Result { try body() }
      semaphore.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
    semaphore.wait()
    return try #require(result).get()
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
