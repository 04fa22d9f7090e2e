import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

/// The types of a model decide how three versions of it are merged: containers by their entries, values of
/// enums as wholes.
@Suite(.overBothBackings) struct ShapeMergeTests {
  private struct Leaf: Model, Codable, Equatable {
    var id: String
    var modelIdentifier: String? { "Leaf:" + id }
  }

  private struct Pair: Codable, Equatable {
    var left: Int?
    var right: Int?

    init(left: Int? = nil, right: Int? = nil) { (self.left, self.right) = (left, right) }

    /// Leaves absent values out.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      if let left { try container.encode(left, forKey: .left) }
      if let right { try container.encode(right, forKey: .right) }
    }
  }

  private enum Kind: Codable, Equatable {
    case circle(radius: Int, color: Int)
    case square(Pair)
    case nothing
  }

  /// Hands its encoder on to an enum.
  private struct Wrapper: Codable, Equatable {
    var kind: Kind
    init(_ kind: Kind) { self.kind = kind }
    init(from decoder: any Decoder) throws { kind = try Kind(from: decoder) }
    func encode(to encoder: any Encoder) throws { try kind.encode(to: encoder) }
  }

  /// An enum whose content is a dictionary.
  private enum Value: Codable, Equatable {
    case object([String: Int])
    init(from decoder: any Decoder) throws {
      self = .object(try decoder.singleValueContainer().decode([String: Int].self))
    }
    func encode(to encoder: any Encoder) throws {
      guard case .object(let entries) = self else { return }
      var container = encoder.singleValueContainer()
      try container.encode(entries)
    }
  }

  /// An enum with a field that says which case it is.
  private enum Tagged: Codable, Equatable {
    case number(Int)
    case text(String)

    private enum Keys: CodingKey { case type, number, text }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      switch try container.decode(String.self, forKey: .type) {
      case "number": self = .number(try container.decode(Int.self, forKey: .number))
      default: self = .text(try container.decode(String.self, forKey: .text))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      switch self {
      case .number(let number):
        try container.encode("number", forKey: .type)
        try container.encode(number, forKey: .number)
      case .text(let text):
        try container.encode("text", forKey: .type)
        try container.encode(text, forKey: .text)
      }
    }
  }

  private struct Doc: Model, Codable, Equatable {
    var counts: [String: Int] = [:]
    var pairs: [String: Pair] = [:]
    var leaves: [String: Leaf] = [:]
    var pair = Pair()
    var numbers: [Int: [String: Int]] = [:]
    var kind: Kind = .nothing
    var kinds: [String: Kind?] = [:]
    var optional: Kind??
    var wrapper = Wrapper(.nothing)
    var value = Value.object([:])
    var tagged = Tagged.number(0)
    var list: [Kind] = []
    var modelIdentifier: String? { "Doc" }
  }

  private enum Figure: Model, Codable, Equatable {
    case dot(x: Int)
    case line(Int)
    var modelIdentifier: String? { "Figure" }
  }

  /// Merges over a store and in memory.
  private func merged<M: Model & Codable & Equatable>(
    _ base: M, others: M, mine: M
  ) throws -> [M?] {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(base) }
    try store.write { try $0.set(others) }
    try store.write { try $0.set(mine, replacing: base) }
    let stored = try store.read { try $0.get(base.modelIdentifier ?? "", as: M.self) }
    return [stored, try ModelChildren.rebase(mine, from: base, onto: others)]
  }

  private func expect(
    _ expected: String, base: String, others: String, mine: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    func doc(_ keys: String) -> Doc {
      var doc = Doc()
      for key in keys.map(String.init) {
        doc.counts[key] = 1
        doc.pairs[key] = Pair(left: 1)
        doc.leaves[key] = Leaf(id: key)
        doc.kinds[key] = Kind.circle(radius: 1, color: 1)
        if key == "a" { doc.pair.left = 1 }
        if key == "b" { doc.pair.right = 1 }
      }
      doc.numbers = [1: doc.counts]
      doc.value = .object(doc.counts)
      return doc
    }
    let docs = try merged(doc(base), others: doc(others), mine: doc(mine))
    for found in docs { #expect(found == doc(expected), sourceLocation: location) }
  }

  @Test func `containers with one entry or none are merged by their entries`() throws {
    try expect("ac", base: "a", others: "a", mine: "ac")
    try expect("bc", base: "a", others: "b", mine: "ac")
    try expect("bc", base: "a", others: "ab", mine: "c")
    try expect("bc", base: "a", others: "b", mine: "c")
    try expect("b", base: "a", others: "b", mine: "")
    try expect("bc", base: "", others: "b", mine: "c")
    try expect("c", base: "a", others: "", mine: "c")
    try expect("abc", base: "a", others: "ab", mine: "ac")
  }

  @Test func `a case that differs is taken as a whole, wherever the enum stands`() throws {
    var (base, others, mine) = (Doc(), Doc(), Doc())
    func set(_ doc: inout Doc, _ kind: Kind, _ tagged: Tagged) {
      doc.kind = kind
      doc.kinds = ["k": kind]
      doc.optional = kind
      doc.wrapper = Wrapper(kind)
      doc.tagged = tagged
      doc.list = [kind]
    }
    set(&base, .nothing, .number(1))
    set(&others, .circle(radius: 1, color: 2), .text("x"))
    set(&mine, .square(Pair(left: 1)), .number(2))
    for found in try merged(base, others: others, mine: mine) { #expect(found == mine) }
    // Others have gone to another case, the caller has changed what the case held.
    set(&base, .circle(radius: 1, color: 1), .number(1))
    set(&others, .square(Pair(left: 1)), .text("x"))
    set(&mine, .circle(radius: 2, color: 1), .number(2))
    for found in try merged(base, others: others, mine: mine) { #expect(found == mine) }
    // The caller left it alone.
    for found in try merged(base, others: others, mine: base) { #expect(found == others) }
  }

  @Test func `the contents of one case are merged field by field`() throws {
    var (base, others, mine, expected) = (Doc(), Doc(), Doc(), Doc())
    base.kind = .circle(radius: 1, color: 1)
    others.kind = .circle(radius: 2, color: 1)
    mine.kind = .circle(radius: 1, color: 2)
    expected.kind = .circle(radius: 2, color: 2)
    base.optional = .square(Pair(left: 1))
    others.optional = .square(Pair(right: 1))
    mine.optional = .square(Pair())
    expected.optional = .square(Pair(right: 1))
    for found in try merged(base, others: others, mine: mine) { #expect(found == expected) }
  }

  @Test func `entries of a dictionary of enums are merged one by one`() throws {
    var (base, others, mine) = (Doc(), Doc(), Doc())
    base.kinds = ["a": Kind.circle(radius: 1, color: 1)]
    others.kinds = ["a": Kind.circle(radius: 1, color: 1), "b": nil]
    mine.kinds = ["a": Kind.square(Pair()), "c": Kind.nothing]
    let expected: [String: Kind?] = ["a": .square(Pair()), "b": nil, "c": .nothing]
    for found in try merged(base, others: others, mine: mine) { #expect(found?.kinds == expected) }
  }

  @Test func `a model that is an enum is taken as a whole`() throws {
    let found = try merged(Figure.dot(x: 1), others: .line(1), mine: .dot(x: 2))
    #expect(found == [.dot(x: 2), .dot(x: 2)])
  }
}
