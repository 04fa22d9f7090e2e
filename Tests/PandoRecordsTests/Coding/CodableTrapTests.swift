import Foundation
import PandoModels
import Testing

@testable import PandoRecords

/// Ways to be `Codable` that a coder trips over.
@Suite struct CodableTrapTests {
  struct Empty: Codable, Equatable {}

  struct Silent: Codable, Equatable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
  }

  @Test func `a value that encodes nothing is an empty map`() throws {
    #expect(try encodedHex(Empty()) == "a0")
    #expect(try encodedHex(Silent()) == "a0")
    #expect(try roundTrip([Empty(), Empty()]) == [Empty(), Empty()])
  }

  struct Maybe: Codable, Equatable {
    var a: Int?
    var b: Int??
    var c: [Int?]
    var d: [Int??]
  }

  @Test func `an absent optional is written as null, nested ones read back as nil`() throws {
    let value = Maybe(a: nil, b: .some(.none), c: [1, nil], d: [.some(.none), 2])
    #expect(try encodedHex(value) == "a46161f66162f6616382" + "01f6" + "616482" + "f602")
    #expect(try roundTrip(value) == Maybe(a: nil, b: nil, c: [1, nil], d: [nil, 2]))
  }

  @Test func `contains distinguishes an explicit nil from an unknown field`() throws {
    struct Probe: Decodable, Equatable {
      enum Keys: String, CodingKey { case a, z }
      var found: [Bool]
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        found = [
          container.contains(.a), container.contains(.z), try container.decodeNil(forKey: .a),
        ]
      }
    }
    let body = try RecordEncoder.encodeValue(Maybe(c: [], d: [])).body
    #expect(try RecordDecoder.decodeValue(Probe.self, from: body).found == [true, false, true])
  }

  class Base: Codable {
    var base: Int
    init(base: Int) { self.base = base }
  }
  final class Derived: Base {
    enum Keys: String, CodingKey { case own }
    var own: String
    init(base: Int, own: String) {
      self.own = own
      super.init(base: base)
    }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      own = try container.decode(String.self, forKey: .own)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(own, forKey: .own)
    }
  }

  @Test func `a superclass is coded under super`() throws {
    let value = try roundTrip(Derived(base: 7, own: "x"))
    #expect(value.base == 7 && value.own == "x")
    #expect(
      try encodedHex(Derived(base: 7, own: "x")) == "a2" + "636f776e6178".prefix(8) + "6178"
        + "657375706572" + "a1" + "64626173 65".replacingOccurrences(of: " ", with: "") + "07")
  }

  struct Interleaved: Codable, Equatable {
    enum Keys: String, CodingKey { case a, b, c }
    var values: [Int]
    init(values: [Int]) { self.values = values }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      var b = try container.nestedUnkeyedContainer(forKey: .b)
      let a = try container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      values = [
        try a.decode(Int.self, forKey: .a), try b.decode(Int.self),
        try container.decode(Int.self, forKey: .c), try a.decode(Int.self, forKey: .b),
        try b.nestedContainer(keyedBy: Keys.self).decode(Int.self, forKey: .a),
      ]
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      var a = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
      var b = container.nestedUnkeyedContainer(forKey: .b)
      try a.encode(values[0], forKey: .a)
      try b.encode(values[1])
      var inB = b.nestedContainer(keyedBy: Keys.self)
      try container.encode(values[2], forKey: .c)
      try a.encode(values[3], forKey: .b)
      try inB.encode(values[4], forKey: .a)
    }
  }

  @Test func `containers are filled and read in any order`() throws {
    let value = Interleaved(values: [1, 2, 3, 4, 5])
    #expect(
      try encodedHex(value) == "a3" + "6161a2" + "616101" + "616204" + "616282" + "02a1616105"
        + "616303")
    #expect(try roundTrip(value) == value)
  }

  struct Pair: Hashable, Codable { var x: Int, y: Int }
  enum Kind: String, Codable, CodingKeyRepresentable { case left, right }

  @Test func `dictionaries with keys of any type come back and are sorted`() throws {
    #expect(try roundTrip(["b": 1, "a": 2, "aa": 3]) == ["b": 1, "a": 2, "aa": 3])
    #expect(try encodedHex(["b": 1, "a": 2, "aa": 3]) == "a3" + "616102" + "616201" + "62616103")
    #expect(try roundTrip([10: "a", -1: "b"]) == [10: "a", -1: "b"])
    #expect(try encodedHex([10: "a"]) == "a162313061" + "61")
    #expect(try roundTrip([Kind.left: 1, .right: 2]) == [.left: 1, .right: 2])
    let pairs = [Pair(x: 1, y: 2): "p", Pair(x: 0, y: 9): "q"]
    #expect(try roundTrip(pairs) == pairs)
    #expect(try roundTrip([1.5: "a", .nan: "b"])[1.5] == "a")
    #expect(try roundTrip([true: 1, false: 0]) == [true: 1, false: 0])
    let id = UUID()
    #expect(try roundTrip([id: 1]) == [id: 1])
  }

  @Test func `sets are the same bytes every time`() throws {
    let words = Set((0..<50).map { "word \($0)" })
    let bytes = try RecordEncoder.encodeValue(words).body
    for seed in 0..<20 {
      let other = Set(words.map { $0 }.shuffled())
      #expect(try RecordEncoder.encodeValue(other).body == bytes, "\(seed)")
    }
    #expect(try roundTrip(words) == words)
    #expect(try encodedHex(Set([300, 1, 24])) == "83" + "01" + "1818" + "19012c")
  }

  struct Spellings: Codable, Equatable {
    enum CodingKeys: String, CodingKey {
      case composed = "\u{E9}"
      case decomposed = "e\u{301}"
    }
    var composed: Int
    var decomposed: Int
  }

  @Test func `keys that differ only by Unicode normalization are two fields`() throws {
    let value = Spellings(composed: 1, decomposed: 2)
    #expect(try encodedHex(value) == "a2" + "62c3a901" + "6365cc8102")
    #expect(try roundTrip(value) == value)
  }

  @Test func `stored keys that are equal in Swift are refused, not dropped`() throws {
    let body = bytes("a2" + "62c3a901" + "6365cc8102")
    let error = #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue([String: Int].self, from: body)
    }
    #expect(error?.code == .duplicateKey)
  }

  struct LongKeys: Codable, Equatable {
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    var count: Int
    init(count: Int) { self.count = count }
    static func name(_ index: Int) -> String {
      String(repeating: "k", count: index * 3) + "\(index)"
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      count = 0
      for key in container.allKeys.reversed() {
        let index = try container.decode(Int.self, forKey: key)
        if key.stringValue == Self.name(index) { count += 1 }
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for index in 0..<count {
        try container.encode(index, forKey: Key(stringValue: Self.name(index)))
      }
    }
  }

  @Test(arguments: [0, 1, 16, 17, 300]) func `keys of any length and number are found`(count: Int)
    throws
  {
    #expect(try roundTrip(LongKeys(count: count)).count == count)
  }

  struct Twice: Encodable {
    enum Keys: String, CodingKey { case a }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(1, forKey: .a)
      try container.encode(2, forKey: .a)
    }
  }

  @Test func `of a field encoded twice the later value stays`() throws {
    #expect(try encodedHex(Twice()) == "a1616102")
  }

  struct Mixed: Encodable {
    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encode(1)
      var map = encoder.container(keyedBy: Twice.Keys.self)
      try map.encode(1, forKey: .a)
    }
  }

  @Test func `two kinds of containers for one value are an error, not a crash`() throws {
    #expect(throws: ModelError.self) { try encodedHex(Mixed()) }
  }

  enum Choice: Codable, Equatable {
    case none
    case one(Int)
    case named(first: String, second: Double?)
  }

  @Test func `enums with payloads come back`() throws {
    let values = [
      Choice.none, .one(4), .named(first: "a", second: nil), .named(first: "b", second: 1),
    ]
    #expect(try roundTrip(values) == values)
  }

  struct Tags: Codable, Equatable {
    var names: Set<String>
    init(_ names: Set<String>) { self.names = names }
    init(from decoder: any Decoder) throws {
      names = try decoder.singleValueContainer().decode(Set<String>.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(names)
    }
  }

  @Test func `a value that is a wrapper of another has its bytes`() throws {
    #expect(try encodedHex(Tags(["b", "a"])) == "8261616162")
    #expect(try roundTrip(["x": Tags(["b"])]) == ["x": Tags(["b"])])
  }
}
