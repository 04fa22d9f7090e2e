import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct JSONWriterTests {
  @Test func `names are sorted by their bytes and doubles show that they are doubles`() {
    let value: TreeValue = [
      "b": 1, "a": 1.0, "é": 1e16, "B": 0.1, "": -0.0, "aa": [:], "z": [],
      "n": .double(.leastNonzeroMagnitude),
    ]
    #expect(
      value.json()
        == #"{"":-0.0,"B":0.1,"a":1.0,"aa":{},"b":1,"n":5e-324,"z":[],"é":1e+16}"#)
  }

  @Test func `pretty JSON has one field a line`() {
    let value: TreeValue = ["a": [1, [:], []], "b": ["c": true]]
    let expected = """
      {
        "a": [
          1,
          {},
          []
        ],
        "b": {
          "c": true
        }
      }
      """
    #expect(value.json(isPretty: true) == expected)
  }

  @Test func `a text keeps every character`() {
    let value: TreeValue = "\"\\/\n\r\t\u{8}\u{0}\u{1f}\u{7f}é🌳\u{2028}"
    #expect(value.json() == "\"\\\"\\\\/\\n\\r\\t\\u0008\\u0000\\u001f\u{7f}é🌳\u{2028}\"")
  }

  @Test(
    arguments: [
      (.bytes([0, 255, 16]), "\"AP8Q\""),
      (.double(.nan), "\"NaN\""), (.double(-.infinity), "\"-Infinity\""),
      (.tagged(32, "https://a.b/c"), "\"https://a.b/c\""),
      (.tagged(37, .bytes(Array(0..<16))), "\"00010203-0405-0607-0809-0A0B0C0D0E0F\""),
      (.tagged(37, .bytes([1])), #"{"$tagged":[37,"AQ=="]}"#),
      (.tagged(4, [-2, 12345]), "123.45"), (.tagged(4, [-3, -5]), "-0.005"),
      (.tagged(4, [-3, -1005]), "-1.005"), (.tagged(4, [2, 7]), "700"),
      (.tagged(4, [99, 7]), "7e99"),
      (.tagged(4, [0, .tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))]), "18446744073709551616"),
      (
        .tagged(4, [-1, .tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))]), "-1844674407370955161.7"
      ),
      (.tagged(999, 1), #"{"$tagged":[999,1]}"#),
      (.node(TreeNode("a", type: "T", fields: ["x": 1])), #"{"x":1}"#),
      (.required(.node(TreeNode("a", type: "T"))), "{}"),
      (.reference(identifier: "a", typeName: "T"), #"{"$reference":["a","T"]}"#),
      (.entries(["b": 2, "a": 1]), #"{"a":1,"b":2}"#),
      (.entries([2: 2, "a": 1]), #"[["a",1],[2,2]]"#),
      (["$x": 1], #"{"$x":1}"#),
    ] as [(TreeValue, String)])
  func `the plain form shows each value as people know it`(value: TreeValue, expected: String) {
    #expect(value.json() == expected)
  }

  @Test(
    arguments: [
      (.bytes([0, 255, 16]), #"{"$bytes":"AP8Q"}"#),
      (.double(.infinity), #"{"$double":"7ff0000000000000"}"#),
      (
        .double(Double(bitPattern: 1 << 63 | 0x7ff0_0000_0000_0001)),
        #"{"$double":"fff0000000000001"}"#
      ),
      (.tagged(4, [-2, 12345]), #"{"$tagged":[4,[-2,12345]]}"#),
      (.tagged(.max, .null), #"{"$tagged":[18446744073709551615,null]}"#),
      (.node(TreeNode("a", type: "T", fields: ["x": 1])), #"{"$node":["a","T",{"x":1}]}"#),
      (.reference(identifier: "a", typeName: "T"), #"{"$reference":["a","T"]}"#),
      (.required(["a": 1]), #"{"$required":{"a":1}}"#),
      (.entries(["b": 2, 7: 1]), #"{"$entries":[["b",2],[7,1]]}"#),
      (["$x": 1, "$$y": 2, "$": 3], #"{"$$":3,"$$$y":2,"$$x":1}"#),
      (["$bytes": "AA=="], #"{"$$bytes":"AA=="}"#),
      // A combining mark after the $ makes one character of the two.
      (["$\u{301}": 1], "{\"$$\u{301}\":1}"),
      (
        ["a": .unsigned(.max), "b": .integer(.min)],
        #"{"a":18446744073709551615,"b":-9223372036854775808}"#
      ),
    ] as [(TreeValue, String)])
  func `the lossless form says what each value is`(value: TreeValue, expected: String) throws {
    #expect(value.json(.lossless) == expected)
    #expect(try TreeValue(json: expected, form: .lossless) == value)
  }

  @Test(arguments: [
    (#"{"$nothing":1}"#, "line 1, column 1: the content of \"$nothing\" is invalid"),
    (#"[{"$bytes":"*"}]"#, "line 1, column 2: the content of \"$bytes\" is invalid"),
    (#"{"$node":["a"]}"#, "line 1, column 1: the content of \"$node\" is invalid"),
    (
      #"{"$entries":[[1,2],[1,3]]}"#,
      "line 1, column 1: the content of \"$entries\" is invalid"
    ),
    (#"{"$tagged":[-1,2]}"#, "line 1, column 1: the content of \"$tagged\" is invalid"),
    (#"{"a":1,"$bytes":""}"#, "line 1, column 1: \"$bytes\" must be the only name in its object"),
  ])
  func `an object that only looks like another value is refused`(json: String, expected: String) {
    do {
      Issue.record("\(try TreeValue(json: json, form: .lossless))")
    } catch {
      #expect(error.description == expected)
    }
  }

  @Test(arguments: seeds(16))
  func `every value is read back equal from the lossless form`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<100 {
      let value = random.anyValue(depth: 4)
      let text = value.json(.lossless)
      let again = try TreeValue(json: text, form: .lossless)
      #expect(again == value, "seed \(seed): \(text)")
      #expect(again.hashValue == value.hashValue)
      #expect(try TreeValue(json: value.json(.lossless, isPretty: true), form: .lossless) == value)
      #expect(again.json(.lossless) == text)
    }
  }
}
