import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct JSONParserTests {
  @Test func `each kind of value is read as what it is`() throws {
    let json = #" {"a": [null, true, false, 0, 1.0, "x", {}, []], "b": {"c": -7}} "#
    let expected: TreeValue = [
      "a": .array([.null, true, false, 0, 1.0, "x", [:], []]), "b": ["c": -7],
    ]
    #expect(try TreeValue(json: json) == expected)
    #expect(try TreeValue(json: "\u{feff}[1]") == [1])
  }

  @Test(
    arguments: [
      ("0", .integer(0)), ("-1", .integer(-1)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
      ("-0", .double(-0.0)), ("-0.0", .double(-0.0)), ("1.0", .double(1)), ("1e2", .double(100)),
      ("0.1", .double(0.1)), ("5e-324", .double(.leastNonzeroMagnitude)), ("1E+2", .double(100)),
      ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
      ("2.2204460492503131e-16", .double(2.2204460492503131e-16)),
      ("0.30000000000000004441", .double(0.30000000000000004)),
      ("9007199254740993.0", .double(9007199254740992)), ("0e-400", .double(0)),
      ("-0.000e-99999", .double(-0.0)),
      ("1e0000000000000000002", .double(100)),
      ("123456789012345678.9", .double(123456789012345680)),
      ("0.000000000000000000000000000001", .double(1e-30)),
    ] as [(String, TreeValue)])
  func `a number keeps its exact value`(json: String, expected: TreeValue) throws {
    #expect(try TreeValue(json: json) == expected)
  }

  @Test(arguments: [
    "18446744073709551616", "-9223372036854775809", "-18446744073709551616",
    "-18446744073709551617", "100000000000000000000", "12345678901234567890123456789012345678",
    "-99999999999999999999999999999999999999",
  ])
  func `an integer beyond 64 bits is kept up to 38 digits`(json: String) throws {
    let value = try TreeValue(json: json)
    guard case .tagged(4, _) = value else {
      Issue.record("\(value)")
      return
    }
    #expect(value.json() == json)
  }

  @Test(arguments: [
    (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"), (#""\u00e9\u4e2D""#, "é中"),
    (#""\ud83c\udf33""#, "🌳"), (#""🌳é""#, "🌳é"), (#""\u0000""#, "\u{0}"), (#""""#, ""),
  ])
  func `escapes stand for their characters`(json: String, expected: String) throws {
    #expect(try TreeValue(json: json) == .string(expected))
  }

  @Test(arguments: [
    ("", "line 1, column 1: expected a value, found the end"),
    ("[1,]", "line 1, column 4: expected a value, found ]"),
    ("[1 2]", "line 1, column 4: expected , or ], found 2"),
    ("{\"a\":1,}", "line 1, column 8: expected a name in quotes, found }"),
    ("{\"a\" 1}", "line 1, column 6: expected a colon after the name, found 1"),
    ("{\"é🌳\": \n  x}", "line 2, column 3: expected a value, found x"),
    ("[\"é🌳\", x]", "line 1, column 8: expected a value, found x"),
    ("\r\n\r\r\n[tru]", "line 4, column 2: expected a value, found a word that is not true"),
    ("[\"ab\n\"]", "line 1, column 5: a control character in a text must be written as an escape"),
    ("[\"ab", "line 1, column 2: the text that begins here has no end"),
    ("[\"a\\n", "line 1, column 2: the text that begins here has no end"),
    ("[\"\\x\"]", "line 1, column 3: an escape that JSON does not have"),
    ("[\"\\u12g4\"]", "line 1, column 3: expected four hexadecimal digits after \\u"),
    ("[\"\\u12", "line 1, column 3: expected four hexadecimal digits after \\u"),
    ("[\"\\", "line 1, column 3: the text ends in the middle of an escape"),
    ("[\"\\ud800\"]", "line 1, column 3: half of a surrogate pair is no character"),
    ("[\"\\udc00\"]", "line 1, column 3: half of a surrogate pair is no character"),
    ("[\"\\ud800\\u0041\"]", "line 1, column 3: half of a surrogate pair is no character"),
    ("[01]", "line 1, column 2: a number must not begin with 0"),
    ("[1.]", "line 1, column 4: expected a digit, found ]"),
    ("[-]", "line 1, column 3: expected a digit, found ]"),
    ("[1e]", "line 1, column 4: expected a digit, found ]"),
    ("[.5]", "line 1, column 2: expected a value, found ."),
    ("[1e999]", "line 1, column 2: the number is larger than a double can hold"),
    ("[1e-400]", "line 1, column 2: the number is nearer to 0 than a double can hold"),
    ("[-0.01e-330]", "line 1, column 2: the number is nearer to 0 than a double can hold"),
    ("[1] [", "line 1, column 5: expected nothing more after the value, found ["),
    ("{\"a\":1,\n\"a\":2}", "line 2, column 1: the name \"a\" occurs twice in one object"),
    (
      "{\"\u{e9}\":1,\"e\u{301}\":2}",
      "line 1, column 8: the name \"e\u{301}\" occurs twice in one object"
    ),
    (
      "[123456789012345678901234567890123456789]",
      "line 1, column 2: an integer of 39 digits cannot be kept exactly; 38 is the limit"
    ),
    ("[NaN]", "line 1, column 2: expected a value, found N"),
  ])
  func `an error names line, column and reason`(json: String, expected: String) {
    #expect(throws: JSONError.self) { try TreeValue(json: json) }
    do {
      _ = try TreeValue(json: json)
    } catch {
      #expect(error.description == expected)
    }
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    let bytes: [UInt8] = [0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d]
    #expect(
      throws: JSONError(line: 1, column: 3, reason: "the text holds bytes that are not UTF-8")
    ) { try TreeValue(json: bytes.span) }
    let escaped: [UInt8] = [0x22, 0x5c, 0x6e, 0xff, 0x22]
    #expect(throws: JSONError.self) { try TreeValue(json: escaped.span) }
  }

  @Test func `4 224 containers may be open, and not one more`() throws {
    let deep = String(repeating: "[", count: 4_224) + String(repeating: "]", count: 4_224)
    #expect(try TreeValue(json: deep).json() == deep)
    let tooDeep = String(repeating: "{\"a\":", count: 600_000)
    let expected = JSONError(
      line: 1, column: 21_121, reason: "nested deeper than 4224 containers")
    #expect(throws: expected) { try TreeValue(json: tooDeep) }
  }

  @Test(arguments: seeds(8))
  func `arbitrary bytes never stop the process`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    let pieces: [[UInt8]] = [
      "{", "}", "[", "]", ",", ":", "\"", "\\u", "1", "-", "e", ".", "\"a\":",
    ]
    .map { Array($0.utf8) }
    for _ in 0..<1000 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0..<20, using: &random) {
        bytes += random.chance(1, in: 9) ? random.bytes(atMost: 3) : random.pick(pieces)
      }
      for form in [JSONForm.plain, .lossless] {
        guard let value = try? TreeValue(json: bytes.span, form: form) else { continue }
        // What was read once is read again from what is written.
        #expect(try TreeValue(json: value.json(form), form: form) == value, "seed \(seed)")
      }
    }
  }

  @Test(arguments: seeds(8))
  func `doubles are read as the standard library reads them`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<500 {
      let digits = String(random.next() >> UInt64.random(in: 0..<60, using: &random))
      let fraction = String(random.next() >> UInt64.random(in: 0..<63, using: &random))
      var text = digits + "." + fraction
      if random.chance(1, in: 2) { text += "e\(Int.random(in: -330...280, using: &random))" }
      let expected = try #require(Double(text))
      if expected == 0,
        text.prefix(while: { $0 != "e" }).contains(where: { ("1"..."9").contains($0) })
      {
        #expect(throws: JSONError.self, "\(text)") { try TreeValue(json: text) }
      } else {
        #expect(try TreeValue(json: text) == .double(expected), "\(text)")
      }
    }
  }

  @Test(arguments: seeds(4))
  func `Foundation reads the same from what is written`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<200 {
      let value = random.anyValue(depth: 3)
      for text in [value.json(.lossless), value.json(), value.json(isPretty: true)] {
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
      }
      let text = value.json(.lossless)
      let object = try JSONSerialization.jsonObject(
        with: Data(text.utf8), options: .fragmentsAllowed)
      #expect(shape(object) == shape(try TreeValue(json: text)), "\(text)")
    }
  }

  /// The result of Foundation, without the values of numbers, which it changes.
  private func shape(_ object: Any) -> TreeValue {
    switch object {
    case let values as [Any]: .array(values.map(shape))
    case let fields as [String: Any]: .object(fields.mapValues(shape))
    case let text as String: .string(text)
    case is NSNull: .null
    default: "number"
    }
  }

  private func shape(_ value: TreeValue) -> TreeValue {
    switch value {
    case .array(let values): .array(values.map(shape))
    case .object(let fields): .object(fields.mapValues(shape))
    case .bool, .integer, .unsigned, .double, .tagged: "number"
    default: value
    }
  }
}
