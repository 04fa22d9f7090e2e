import Foundation
import PandoFixtures
import Testing

@testable import PandoStore

@Suite struct QueryValueTests {
  /// Values in their order; those of one line are equal.
  static let ordered: [[QueryValue]] = [
    [.null], [.bool(false)], [.bool(true)],
    [.double(.nan), .double(.signalingNaN), .double(-.nan)],
    [.double(-.infinity)], [.double(-.greatestFiniteMagnitude)],
    [.double(-0x1p128)], [wide(.max, isNegative: true)],
    [wide(1 << 127, isNegative: true), .double(-0x1p127), QueryValue(Int128.min)],
    [wide(1 << 127 - 1, isNegative: true)], [wide(1 << 64 + 1, isNegative: true)],
    [wide(1 << 64, isNegative: true), .double(-0x1p64)], [wide(1 << 64 - 1, isNegative: true)],
    [.double((-0x1p64).nextUp)], [wide(1 << 63 + 1, isNegative: true)],
    [.double(-0x1p63), .integer(.min)], [.integer(.min + 1)], [.integer(-0x20_0000_0000_0001)],
    [.integer(-0x20_0000_0000_0000), .double(-0x1p53)], [.integer(-2), .double(-2)],
    [.double(-1.5)], [.double(-.leastNonzeroMagnitude)],
    [
      .double(0), .double(-0.0), .integer(0), .date(Date(timeIntervalSinceReferenceDate: 0)),
      wide(0, isNegative: true),
    ],
    [.double(.leastNonzeroMagnitude)], [.double(1.5)], [.integer(2), .double(2), wide(2)],
    [.integer(0x20_0000_0000_0000), .double(0x1p53)], [.integer(0x20_0000_0000_0001)],
    [.double(0x1p53 + 2), .integer(0x20_0000_0000_0002)], [.integer(.max - 1)], [.integer(.max)],
    [.double(0x1p63), .unsigned(1 << 63)], [.unsigned(1 << 63 + 1)], [.unsigned(.max)],
    [.double(0x1p64), wide(1 << 64)], [wide(1 << 64 + 1)], [wide(1 << 64 + 255)],
    [wide(1 << 64 + 256)], [wide(1 << 64 + 4_095)],
    [.double((0x1p64).nextUp), wide(1 << 64 + 4_096)],
    [.double(1e38)], [wide(99_999_999_999_999_999_999_999_999_999_999_999_998)],
    [wide(99_999_999_999_999_999_999_999_999_999_999_999_999)],
    [wide(1 << 127 - 1), QueryValue(Int128.max)],
    [wide(1 << 127), .double(0x1p127)], [wide(.max - 1)], [wide(.max), QueryValue(UInt128.max)],
    [.double(0x1p128)], [.double(.greatestFiniteMagnitude)], [.double(.infinity)],
    [.string("")], [.string("\u{0}")], [.string("\u{0}\u{0}")], [.string("\u{0}a")],
    [.string("\u{1}")], [.string("A")], [.string("a")], [.string("a\u{0}")], [.string("a\u{0}b")],
    [.string("ab")], [.string("e\u{301}")], [.string("é")], [.string("日本")],
    [.data(Data())], [.data(Data([0]))], [.data(Data([0, 0]))], [.data(Data([0, 255]))],
    [.data(Data([1]))], [.data(Data([255]))],
    [.uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))],
    [.uuid(UUID(uuid: (128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))],
    [.composite],
  ]

  private static func wide(_ magnitude: UInt128, isNegative: Bool = false) -> QueryValue {
    .wideInteger(isNegative: isNegative, magnitude: magnitude)
  }

  @Test func `a value is read back from the bytes of an index`() {
    for value in Self.ordered.joined() where value.kind != .composite {
      #expect(IndexValue.value(IndexValue(value).bytes.span) == value, "\(value)")
    }
  }

  @Test func `values of several fields stand in the order of the first, then of the second`() {
    let values = Self.ordered.compactMap(\.first)
    let rows = values.flatMap { first in
      [QueryValue.integer(-1), .integer(1), .string("a")].map { [first, $0] }
    }
    let bytes = rows.map { row in
      var bytes = IndexValue()
      for value in row { bytes.append(value, 200) }
      let (end, _) = IndexValue.end(ofValueIn: bytes.bytes.span, from: 0)
      #expect(Array(bytes.bytes[..<end]) == IndexValue(row[0], 200).bytes, "\(row[0])")
      return bytes.bytes
    }
    for (row, next) in zip(bytes, bytes.dropFirst()) {
      #expect(row.lexicographicallyPrecedes(next))
    }
  }

  @Test(arguments: seeds(1))
  func `integers of 128 bits compare by their exact value`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var values: [(value: QueryValue, exact: Int128)] = []
    for _ in 0..<steps(150) {
      let bits =
        UInt128(random.next()) << 62 | UInt128(random.next() >> 2)
      let number = Int128(bits >> UInt128(UInt64.random(in: 0..<126, using: &random)))
      values.append((QueryValue(number), number))
      values.append((QueryValue(-number), -number))
      values.append((QueryValue(number + 1), number + 1))
      // At most 2¹²⁶.
      let double = Double(number)
      values.append((.double(-double), -Int128(double)))
    }
    for (value, exact) in values {
      #expect(IndexValue.value(IndexValue(value).bytes.span) == value, "\(value)")
      for (other, otherExact) in values {
        let pair: Comment = "\(value) and \(other)"
        #expect((value < other) == (exact < otherExact), pair)
        #expect((value == other) == (exact == otherExact), pair)
        let (bytes, otherBytes) = (IndexValue(value).bytes, IndexValue(other).bytes)
        #expect(bytes.lexicographicallyPrecedes(otherBytes) == (exact < otherExact), pair)
        if exact == otherExact { #expect(value.hashValue == other.hashValue, pair) }
      }
    }
  }

  @Test func `all values stand in one total order, which the bytes of an index keep`() {
    let values = Self.ordered.enumerated().flatMap { place, values in values.map { (place, $0) } }
    for (place, value) in values {
      for (otherPlace, other) in values {
        let pair: Comment = "\(value) and \(other)"
        #expect((value == other) == (place == otherPlace), pair)
        #expect((value < other) == (place < otherPlace), pair)
        let (bytes, otherBytes) = (IndexValue(value).bytes, IndexValue(other).bytes)
        #expect((bytes == otherBytes) == (place == otherPlace), pair)
        #expect(bytes.lexicographicallyPrecedes(otherBytes) == (place < otherPlace), pair)
        if place == otherPlace { #expect(value.hashValue == other.hashValue, pair) }
      }
    }
  }

  @Test(arguments: seeds(1))
  func `numbers of any type compare by their exact value`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var values: [QueryValue] = []
    for _ in 0..<steps(150) {
      let bits = random.next() >> UInt64.random(in: 0..<64, using: &random)
      values.append(.integer(Int64(truncatingIfNeeded: bits)))
      values.append(QueryValue(bits))
      values.append(.double(Double(bits)))
      values.append(.double((Double(bits) + 0x1p53).nextUp))
    }
    for value in values {
      for other in values {
        let isLess = Self.exact(value) < Self.exact(other)
        #expect((value < other) == isLess, "\(value) and \(other)")
        let (bytes, otherBytes) = (IndexValue(value).bytes, IndexValue(other).bytes)
        #expect(bytes.lexicographicallyPrecedes(otherBytes) == isLess, "\(value) and \(other)")
      }
    }
  }

  /// All of them are whole numbers below 2⁶⁵ or doubles that are.
  private static func exact(_ value: QueryValue) -> Int128 {
    switch value {
    case .integer(let value): Int128(value)
    case .unsigned(let value): Int128(value)
    case .double(let value): Int128(value) * 1
    default: 0
    }
  }

  @Test func `a long text is cut off in an index and keeps its place among others`() {
    let x = String(repeating: "x", count: 399)
    let texts = [
      x, x + "\u{0}", x + "\u{0}a", x + "a", x + "a\u{0}", x + "aa", x + "ab",
      x + "b",
    ]
    for (place, text) in texts.enumerated() {
      for (otherPlace, other) in texts.enumerated() where place < otherPlace {
        let (bytes, otherBytes) = (
          IndexValue(.string(text)).bytes, IndexValue(.string(other)).bytes
        )
        #expect(!otherBytes.lexicographicallyPrecedes(bytes), "\(place) and \(otherPlace)")
      }
      #expect(IndexValue(.string(text)).bytes.count <= 403)
    }
    #expect(IndexValue(.string(x + "a")) != IndexValue(.string(x + "aa")))
    #expect(IndexValue(.string(x + "aa")) == IndexValue(.string(x + "ab")))
  }

  @Test func `ranges of values are joined and cut`() {
    func range(_ lower: UInt8, _ upper: UInt8?) -> IndexRange {
      IndexRange(lower: [lower], upper: upper.map { [$0] })
    }
    #expect(
      IndexRange.union([range(5, 7), range(1, 2), range(6, 9), range(3, 3), range(2, 3)])
        == [range(1, 3), range(5, 9)])
    #expect(IndexRange.union([range(5, nil), range(7, 9)]) == [range(5, nil)])
    #expect(
      IndexRange.intersection([range(1, 4), range(6, nil)], [range(3, 8), range(9, 10)])
        == [range(3, 4), range(6, 8), range(9, 10)])
    #expect(IndexRange.intersection([range(1, 4)], [range(4, nil)]) == [])
    #expect(IndexRange.successor(of: [1, 255, 255]) == [2])
    #expect(IndexRange.successor(of: [255]) == nil)
  }
}
