import PandoModels
import PandoRecords
import Testing

@testable import PandoCommand

@Suite struct TreeSplitterTests {
  private static let mapping: ImportMapping = {
    var mapping = ImportMapping()
    mapping.properties = [
      "statuses": NodeType(typeName: "Status", field: "id"),
      "user": NodeType(typeName: "User", field: "id"),
      "image": NodeType(typeName: "Image", field: "key"),
    ]
    mapping.required = ["image"]
    return mapping
  }()

  private func split(
    _ json: String, root: NodeType? = nil, isStrict: Bool = false
  ) throws -> (trees: [TreeNode], findings: SplitFindings) {
    var mapping = TreeSplitterTests.mapping
    mapping.root = root
    var splitter = TreeSplitter(mapping, isStrict: isStrict)
    let trees = try splitter.trees(in: try TreeValue(json: json))
    return (trees, splitter.findings)
  }

  private func failure(_ json: String, root: NodeType? = nil) throws -> CommandError {
    let error = #expect(throws: CommandError.self) { try split(json, root: root) }
    return try #require(error)
  }

  @Test func `a node is split off at its property`() throws {
    let (trees, _) = try split(
      #"{"statuses":[{"id":1,"user":{"id":"u","n":null},"e":{"x":[1]}}]}"#)
    let user = TreeNode("User:u", type: "User", fields: ["id": "u", "n": .null])
    let status = TreeNode(
      "Status:1", type: "Status", fields: ["id": 1, "user": .node(user), "e": ["x": [1]]])
    #expect(trees == [status])
  }

  @Test(arguments: [
    #"{"id":1,"user":{"id":2},"list":[{"user":{"id":3}}],"user2":null}"#,
    #"{"id":9223372036854775807,"user":{"a":{"id":18446744073709551615},"b":{"id":-1}}}"#,
    #"{"a":[],"b":{},"c":[[],{}],"d":"\u0000\"\\é😀","e":-0.0,"id":0,"user":[]}"#,
    #"{"id":1,"user":[null,{"id":1},7,[{"id":5}],"x"]}"#,
    #"{"id":1,"user":{}}"#,
  ])
  func `the parts put together are the input`(json: String) throws {
    let (trees, _) = try split(json, root: NodeType(typeName: "T", field: "id"))
    #expect(trees.count == 1)
    #expect(TreeValue.node(trees[0]).json() == (try TreeValue(json: json)).json())
  }

  @Test func `an object without the field whose values have it is a map of nodes`() throws {
    let (trees, _) = try split(
      #"{"statuses":{"id":1,"user":{"x":{"id":1},"y":{"id":2}}}}"#)
    let users: TreeValue = .entries([
      "x": .node(TreeNode("User:1", type: "User", fields: ["id": 1])),
      "y": .node(TreeNode("User:2", type: "User", fields: ["id": 2])),
    ])
    #expect(trees.first?["user"] == users)
    let (roots, _) = try split(#"{"statuses":{"b":{"id":2},"a":{"id":1}}}"#)
    #expect(roots.map(\.identifier) == ["Status:1", "Status:2"])
  }

  @Test func `a required property marks every object up to the node`() throws {
    let (trees, _) = try split(
      #"{"statuses":{"id":1,"m":{"image":{"key":"k"}},"l":[{"image":{"key":"k"}}]}}"#)
    let image: TreeValue = .node(TreeNode("Image:k", type: "Image", fields: ["key": "k"]))
    #expect(trees.first?["m"] == .required(["image": .required(image)]))
    #expect(trees.first?["l"] == [["image": .required(image)]])
  }

  @Test func `the root option names the top object and the elements of a top array`() throws {
    let root = NodeType(typeName: "Line", field: "n")
    #expect(try split(#"{"n":1.5}"#, root: root).trees.map(\.identifier) == ["Line:1.5"])
    let (trees, findings) = try split(#"[{"n":"b"},{"n":"a"},3]"#, root: root)
    #expect(trees.map(\.identifier) == ["Line:b", "Line:a"])
    #expect(findings.leftOut == ["[]": 1])
  }

  @Test func `data outside every node is counted and named once`() throws {
    let (trees, findings) = try split(
      #"""
      {"meta":{"a":1,"b":[2]},"count":3,"statuses":[{"id":1},null],
       "pages":[{"no":1,"user":{"id":1}},{"no":2,"user":{"id":1}}]}
      """#)
    #expect(trees.map(\.identifier) == ["User:1", "User:1", "Status:1"])
    #expect(findings.leftOut == ["meta": 1, "count": 1, "statuses[]": 1, "pages[].no": 2])
    #expect(findings.leftOutCount == 5)
  }

  @Test func `identifiers with differing content are counted`() throws {
    let (_, same) = try split(#"{"statuses":[{"id":1,"user":{"id":2}},{"id":3,"user":{"id":2}}]}"#)
    #expect(same.differingCount == 0)
    #expect(same.occurrenceCount == 4)
    let (_, other) = try split(
      #"{"statuses":[{"id":1,"user":{"id":2,"n":1}},{"id":3,"user":{"id":2,"n":2}},{"id":3}]}"#)
    #expect(other.differingCount == 2)
  }

  @Test(arguments: [
    (#"{"statuses":[{"id":1},{"x":1}]}"#, "statuses[1]"),
    (#"{"statuses":[{"id":1,"e":{"user":{"id":null}}}]}"#, "statuses[0].e.user"),
    (#"{"statuses":{"id":true}}"#, "statuses"),
    (#"{"statuses":{"id":""}}"#, "statuses"),
    (#"{"statuses":{"id":{"id":1}}}"#, "statuses"),
    (
      #"{"a b":[{"user":{"id":1,"l":[{"user":{"x":{"id":1},"y":2}}]}}]}"#,
      #"["a b"][0].user.l[0].user"#
    ),
    (#"{"user":{"id":1,"x":{"user":{"id":1}}}}"#, "user.x.user"),
  ])
  func `a node that cannot be is named by its place`(json: String, place: String) throws {
    let error = try failure(json)
    #expect(error.place == place)
    #expect(error.exitCode == .badInput)
    #expect(!error.remedy.isEmpty)
  }

  @Test func `a top object without the root's field is named`() throws {
    let error = try failure("{}", root: NodeType(typeName: "T", field: "id"))
    #expect(
      error.line(for: "pando import")
        == "pando import: the top: a T without “id”, the field that identifies it; "
        + "add the field, or map the property to another one")
  }

  @Test func `strict splitting names the first data outside every node`() throws {
    let error = #expect(throws: CommandError.self) {
      try split(#"{"z":1,"pages":[{"user":{"id":1}},{"no":2}]}"#, isStrict: true)
    }
    #expect(error?.place == "pages[1]")
    #expect(try split(#"{"user":{"id":1,"x":[]}}"#, isStrict: true).trees.count == 1)
  }

  @Test func `the names of data left out do not grow with the input`() throws {
    let fields = (0..<1000).map { #""k\#($0)":1"# }.joined(separator: ",")
    let (_, findings) = try split("{\(fields)}")
    #expect(findings.leftOut.count == SplitFindings.maximumNameCount)
    #expect(findings.leftOutCount == 1000)
  }
}
