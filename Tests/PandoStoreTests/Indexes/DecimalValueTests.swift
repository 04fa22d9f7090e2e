import Foundation
import PandoFixtures
import Testing

@testable import PandoStore

/// Decimal numbers among the other numbers, in memory and in the rows of an index.
@Suite struct DecimalValueTests {
  /// All digits of a number: sign, and digits before and after the point.
  private struct Digits {
    var isNegative = false
    var whole: [UInt8] = []
    var fraction: [UInt8] = []

    /// Reads a text such as `-12.5` or `7e-3`.
    init(_ text: String) {
      let parts = text.utf8.split(separator: UInt8(ascii: "e"))
      var digits = Array(parts[0])
      if digits.first == UInt8(ascii: "-") {
        isNegative = true
        digits.removeFirst()
      }
      let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
      whole = Array(digits[..<point])
      fraction = Array(digits[point...].dropFirst())
      let exponent = parts.count > 1 ? Int(String(parts[1]) ?? "") ?? 0 : 0
      for _ in 0..<max(0, exponent) {
        whole.append(fraction.isEmpty ? UInt8(ascii: "0") : fraction.removeFirst())
      }
      for _ in 0..<max(0, -exponent) {
        fraction.insert(whole.popLast() ?? UInt8(ascii: "0"), at: 0)
      }
      whole = Array(whole.drop { $0 == UInt8(ascii: "0") })
      while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
      if whole.isEmpty, fraction.isEmpty { isNegative = false }
    }

    /// The exact digits of a value; a double has finitely many.
    init(_ value: QueryValue) {
      guard case .double(let double) = value else {
        self.init(value.description)
        return
      }
      var text = [CChar](repeating: 0, count: 2000)
      _ = withVaList([double]) { vsnprintf(&text, text.count, "%.1100f", $0) }
      self.init(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
    }

    /// -1, 0 or 1.
    func order(_ other: Digits) -> Int {
      if isNegative != other.isNegative { return isNegative ? -1 : 1 }
      var order = whole.count - other.whole.count
      if order == 0, whole != other.whole {
        order = whole.lexicographicallyPrecedes(other.whole) ? -1 : 1
      }
      if order == 0, fraction != other.fraction {
        order = fraction.lexicographicallyPrecedes(other.fraction) ? -1 : 1
      }
      return (isNegative ? -1 : 1) * order.signum()
    }
  }

  private static func decimal(_ text: String) throws -> QueryValue {
    .decimal(try #require(Decimal(string: text), "\(text)"))
  }

  /// Doubles, integers and decimal numbers that lie close together.
  private static func neighbours(_ random: inout SeededGenerator) throws -> [QueryValue] {
    let magnitude = Double.random(in: -24...44, using: &random)
    var center = pow(10, magnitude) * (Bool.random(using: &random) ? -1 : 1)
    switch UInt8.random(in: 0..<4, using: &random) {
    case 0: center = center.rounded()
    case 1: center = pow(10, magnitude.rounded())
    case 2 where abs(center) < 1e38: center = Double(Float(center))
    default: break
    }
    var values: [QueryValue] = []
    for double in [center.nextDown, center, center.nextUp] {
      values.append(.double(double))
      let digits = Digits(.double(double))
      let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
      let sign = digits.isNegative ? "-" : ""
      let zeros =
        digits.whole.isEmpty ? digits.fraction.prefix { $0 == UInt8(ascii: "0") }.count : 0
      for digitCount in [15, 17, 20, 29, 38] {
        let places = max(0, digitCount - digits.whole.count + zeros)
        let fraction = Array(digits.fraction.prefix(places))
        if digits.whole.count > 38 || fraction.count > 100 { continue }
        let number = sign + "0" + text(digits.whole) + "." + text(fraction) + "0"
        values.append(try decimal(number))
        // One unit of its last place away.
        if fraction.count > 1, fraction.count < 120 {
          let unit = "0." + String(repeating: "0", count: fraction.count - 1) + "1"
          let moved = try #require(Decimal(string: number)) + (try #require(Decimal(string: unit)))
          values.append(.decimal(moved))
        }
      }
      if let whole = Int128(exactly: double.rounded()) {
        values += [-1, 0, 1].map { QueryValue(whole + $0) }
        if let half = Decimal(string: "\(whole).5"), "\(whole)".count < 38 {
          values.append(.decimal(half))
        }
      }
    }
    return values
  }

  @Test(arguments: seeds(12))
  func `numbers of every form stand in the order of their exact values, and so do their rows`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var values: [QueryValue] = [.integer(0), .double(0), .double(-1e-200), .double(1e200)]
    for _ in 0..<4 { values += try Self.neighbours(&random) }
    let known = values.map { (value: $0, digits: Digits($0), bytes: IndexValue($0).bytes) }
    let ends = [(QueryValue.composite, QueryValue.null), (.null, .composite)]
      .map { (IndexValue($0).bytes, IndexValue($1).bytes) }
    var decimalCount = 0
    for (value, digits, bytes) in known {
      if case .decimal = value { decimalCount += 1 }
      #expect(IndexValue.value(bytes.span) == value, "\(value)")
      #expect(value.kind == .number)
      for (other, otherDigits, otherBytes) in known {
        let order = digits.order(otherDigits)
        let isRight =
          (value < other) == (order < 0) && (value == other) == (order == 0)
          && bytes.lexicographicallyPrecedes(otherBytes) == (order < 0)
          && (bytes == otherBytes) == (order == 0)
          && (order != 0 || value.hashValue == other.hashValue)
        if !isRight { Issue.record("\(value) and \(other)") }
        // Rows of two fields, whose second value is the lowest or the highest.
        for (first, second) in ends {
          let row = bytes + first
          let otherRow = otherBytes + second
          let isInRange = !IndexRange.intersection(
            [IndexRange(values: bytes)], [IndexRange(prefix: otherRow)]
          ).isEmpty
          let isRight =
            (order == 0 || row.lexicographicallyPrecedes(otherRow) == (order < 0))
            && IndexValue.end(ofValueIn: row.span, from: 0).place == bytes.count
            && isInRange == (order == 0)
          if !isRight { Issue.record("rows of \(value) and \(other)") }
        }
      }
    }
    #expect(decimalCount > 5)
  }

  /// The bytes of a value in an index, in hexadecimal.
  private static func hex(_ value: QueryValue) -> String {
    IndexValue(value).bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func `a row has the bytes of the format`() throws {
    #expect(Self.hex(.integer(5)) == "40c0140000000000000000")
    #expect(Self.hex(.double(-1.5)) == "404007ffffffffffff0000")
    #expect(Self.hex(.unsigned(.max)) == "40c3efffffffffffff07ff")
    #expect(Self.hex(QueryValue(UInt128(1) << 64 + 1)) == "40c3f0000000000000000101")
    #expect(try Self.hex(Self.decimal("5.00")) == Self.hex(.integer(5)))
    #expect(try Self.hex(Self.decimal("-1.5")) == Self.hex(.double(-1.5)))
    #expect(try Self.hex(Self.decimal("9.99")) == "40c023fae147ae147a0000" + "ff8001645b00")
    #expect(try Self.hex(Self.decimal("-9.99")) == "403fdc051eb851eb840000" + "ff7ffe9ba4ff")
    #expect(
      try Self.hex(Self.decimal("9007199254740993.25")) == "40c3400000000000000001"
        + "ff80105b08145d374b0a5e1a00")
  }

  @Test func `a decimal number has one form, that of an integer if it is one`() throws {
    #expect(try Self.decimal("1.50").description == "1.5")
    if case .integer(100) = try Self.decimal("1e2") {} else { Issue.record("no integer") }
    if case .unsigned = try Self.decimal("18446744073709551615") {} else { Issue.record("signed") }
    if case .double(let nan) = QueryValue.decimal(.nan) {
      #expect(nan.isNaN)
    } else {
      Issue.record()
    }
    #expect(QueryValue.decimal(isNegative: false, magnitude: 10, exponent: 0) == .integer(10))
    #expect(
      IndexValue(.decimal(isNegative: false, magnitude: 10, exponent: 0))
        == IndexValue(.integer(10)))
  }

  @Test(arguments: seeds(4))
  func `a decimal is read back from its value, its row and its text`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var decimals: [Decimal] = [
      .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, 0, -1,
    ]
    for _ in 0..<200 {
      let digits = (0..<Int.random(in: 1...38, using: &random))
        .map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
      let sign = Bool.random(using: &random) ? "-" : ""
      decimals.append(
        try #require(
          Decimal(string: "\(sign)\(digits)e\(Int.random(in: -128...89, using: &random))")))
    }
    for decimal in decimals {
      let value = QueryValue.decimal(decimal)
      #expect(Decimal(queryValue: value) == decimal, "\(decimal)")
      let bytes = IndexValue(value).bytes
      #expect(
        IndexValue.value(bytes.span).flatMap { Decimal(queryValue: $0) } == decimal, "\(decimal)")
      #expect(Decimal(string: value.description) == decimal, "\(decimal)")
    }
  }

  @Test func `a double is the decimal number of all its digits, not of its shortest ones`() throws {
    let tenth = try Self.decimal("0.1")
    #expect(tenth < .double(0.1))
    #expect(tenth > .double(0.1.nextDown))
    #expect(Decimal(queryValue: .double(0.1)) == nil)
    #expect(try Self.decimal("0.375") == .double(0.375))
    #expect(Decimal(queryValue: .double(-0.375)) == Decimal(string: "-0.375"))
    #expect(
      Decimal(queryValue: .double(0x1p100)) == Decimal(string: "1267650600228229401496703205376"))
    #expect(Decimal(queryValue: .double(0)) == 0)
    #expect(Decimal(queryValue: .double(.nan))?.isNaN == true)
    #expect(Decimal(queryValue: .double(.infinity)) == nil)
    #expect(Decimal(queryValue: .string("1")) == nil)
  }

  @Test func `a duration is its seconds`() {
    #expect(QueryValue.duration(.seconds(90)) == .integer(90))
    #expect(QueryValue.duration(.milliseconds(-1500)) == .double(-1.5))
    let attosecond = QueryValue.duration(Duration(attoseconds: 1))
    #expect(attosecond.description == "0.000000000000000001")
    let longest = QueryValue.duration(Duration(attoseconds: .max))
    #expect(longest.description == "170141183460469231731.687303715884105727")
    #expect(longest > attosecond)
  }
}

/// Sums of decimal numbers.
@Suite struct DecimalSumTests {
  @Test(arguments: seeds(8))
  func `a sum of decimals and integers is exact in every order`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var decimals: [Decimal] = []
    for _ in 0..<300 {
      let digits = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
      let exponent = Int.random(in: -8...3, using: &random)
      decimals.append(Decimal(sign: .plus, exponent: exponent, significand: Decimal(digits)))
    }
    // At most 27 digits, which Decimal adds exactly.
    let expected = decimals.reduce(0, +)
    for _ in 0..<3 {
      decimals.shuffle(using: &random)
      var sum = NumberSum()
      for decimal in decimals { sum.add(.decimal(decimal)) }
      #expect(Decimal(queryValue: try #require(sum.value)) == expected)
    }
  }

  private static func sum(_ texts: [String]) throws -> QueryValue? {
    var sum = NumberSum()
    for text in texts { sum.add(.decimal(try #require(Decimal(string: text)))) }
    return sum.value
  }

  @Test func `a sum with too many digits has no value`() throws {
    let wide = ["1e30", "1e-10"]
    #expect(try Self.sum(wide) == nil)
    // Only the result has to fit.
    #expect(try Self.sum(wide + ["-1e30"])?.description == "0.0000000001")
    let greatest = Decimal.greatestFiniteMagnitude.description
    #expect(try Self.sum([greatest, greatest]) == nil)
    #expect(
      try Self.sum([greatest, greatest, "-" + greatest])?.description == greatest.exponential)
    let least = "-" + String(UInt128.max)
    #expect(try Self.sum([least, "-1", "1"]) == QueryValue(isNegative: true, magnitude: .max))
    #expect(try Self.sum([least, "-1"]) == nil)
  }

  @Test func `with a double among them the sum is a double`() throws {
    var sum = NumberSum()
    sum.add(.decimal(try #require(Decimal(string: "0.25"))))
    sum.add(.double(1.5))
    sum.add(.integer(2))
    sum.add(.double(.nan))
    if case .double(3.75) = sum.value {} else { Issue.record("no double") }
    sum.add(.decimal(try #require(Decimal(string: "1e30"))))
    if case .double(let value) = sum.value { #expect(value == 1e30) }
  }
}

extension String {
  /// A long integer as digits and exponent.
  fileprivate var exponential: String {
    let zeros = reversed().prefix { $0 == "0" }.count
    return "\(dropLast(zeros))e\(zeros)"
  }
}
