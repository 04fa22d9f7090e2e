import PandoModels
import Testing

@Suite struct TreeValueTests {
  @Test func `literals write the simple cases`() {
    let value: TreeValue = ["a": [1, -2.5, "x", true], "b": [:]]
    let expected: TreeValue = .object([
      "a": .array([.integer(1), .double(-2.5), .string("x"), .bool(true)]), "b": .object([:]),
    ])
    #expect(value == expected)
    #expect(TreeValue(exactly: UInt64.max) == .unsigned(.max))
    #expect(TreeValue(exactly: UInt64(7)) == 7)
    #expect(TreeValue(exactly: Int128(UInt64.max) + 1) == nil)
  }

  @Test func `subscripts read through objects, arrays, entries, nodes and required slots`() {
    let value: TreeValue = [
      "node": .required(.node(TreeNode("a", type: "T", fields: ["list": [1, ["x": "deep"]]]))),
      "entries": .entries(["k": 5]),
    ]
    #expect(value["node"]?["list"]?[1]?["x"]?.stringValue == "deep")
    #expect(value["entries"]?["k"]?.integerValue == 5)
    #expect(value["node"]?["list"]?[2] == nil)
    #expect(value["absent"] == nil)
    #expect(value[0] == nil)
    #expect(value["node"]?.nodeValue?.identifier == "a")
  }

  @Test func `subscripts change what they reach`() {
    var value: TreeValue = [
      "node": .required(.node(TreeNode("a", type: "T", fields: ["list": [1, ["x": "deep"]]]))),
      "entries": .entries(["k": 5]),
    ]
    value["node"]?["list"]?[1]?["x"] = "changed"
    value["node"]?["list"]?[0] = nil
    value["entries"]?["k"] = nil
    value["entries"]?["n"] = .null
    let expected: TreeValue = [
      "node": .required(.node(TreeNode("a", type: "T", fields: ["list": [["x": "changed"]]]))),
      "entries": .entries(["n": .null]),
    ]
    #expect(value == expected)
    var node = TreeNode("a", type: "T")
    node["x"] = 1
    #expect(node["x"] == 1 && node.fields == ["x": 1])
  }

  @Test func `accessors answer for their own kind only`() {
    #expect(TreeValue.integer(3).doubleValue == 3)
    #expect(TreeValue.integer(.max).doubleValue == nil)
    #expect(TreeValue.double(3).integerValue == nil)
    #expect(TreeValue.null.isNull && !TreeValue.bool(false).isNull)
    #expect(TreeValue.string("a").bytesValue == nil)
    #expect(TreeValue.required(["a": 1]).objectValue == ["a": 1])
    #expect(TreeValue.required([1]).arrayValue == [1])
  }

  @Test func `texts are compared by their bytes and doubles by their bits`() {
    let composed = "\u{e9}"
    let decomposed = "e\u{301}"
    #expect(composed == decomposed)
    #expect(TreeValue.string(composed) != .string(decomposed))
    #expect(TreeValue.object([composed: 1]) != .object([decomposed: 1]))
    #expect(TreeNode(composed, type: "T") != TreeNode(decomposed, type: "T"))
    #expect(TreeValue.entries([.string(composed): 1, .string(decomposed): 2])[decomposed] == 2)
    #expect(TreeValue.double(0) != .double(-0.0))
    #expect(TreeValue.double(.nan) == .double(.nan))
    #expect(TreeValue.double(.nan) != .double(.signalingNaN))
  }
}
