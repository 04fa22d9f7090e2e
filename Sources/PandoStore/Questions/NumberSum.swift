import PandoSystem

/// The exact sum of numbers: integers, decimals, durations and doubles.
///
/// Only a type with its own conformance to ``Summable`` needs it, to make the answer in its type.
///
/// ```swift
/// struct Meters: Codable, Hashable, Summable {
///   …
///   static func sum(of values: NumberSum) -> Meters? { Meters(values.nearest) }
///   static func average(of values: NumberSum) -> Meters? {
///     Meters(values.nearest / Double(values.count))
///   }
/// }
/// ```
///
/// - Note: A value; any thread.
public struct NumberSum: Sendable {
  /// How many numbers have been added; null and not-a-number are none.
  public private(set) var count = 0
  /// The integers, as far as they fit.
  private var whole: Int128 = 0
  /// The others, as multiples of powers of ten; few exponents occur.
  private var multiples: [(exponent: Int, multiple: Multiple)] = []
  private var doubles = DoubleSum()

  package init() {}

  /// Adds a value; only numbers count.
  package mutating func add(_ value: QueryValue) { change(by: value, isAdded: true) }

  /// Takes away a value that was added.
  mutating func remove(_ value: QueryValue) { change(by: value, isAdded: false) }

  private mutating func change(by value: QueryValue, isAdded: Bool) {
    guard value.kind == .number else { return }
    count += isAdded ? 1 : -1
    switch value {
    case .integer(let value): add(isNegative: (value < 0) == isAdded, UInt128(value.magnitude))
    case .unsigned(let value): add(isNegative: !isAdded, UInt128(value))
    case .wideInteger(let isNegative, let magnitude):
      add(isNegative: isNegative == isAdded, magnitude)
    case .decimal(let isNegative, let magnitude, let exponent):
      multiples[place(ofExponent: exponent)].multiple
        .add(isNegative: isNegative == isAdded, magnitude)
    case .double(let value): if isAdded { doubles.add(value) } else { doubles.remove(value) }
    default: break
    }
  }

  /// Adds the numbers of another sum.
  mutating func add(_ other: NumberSum) {
    count += other.count
    add(isNegative: other.whole < 0, other.whole.magnitude)
    for (exponent, multiple) in other.multiples {
      multiples[place(ofExponent: exponent)].multiple.add(multiple)
    }
    doubles.add(other.doubles)
  }

  /// The sum with the opposite of each number, which takes away as many numbers.
  var negated: NumberSum {
    var negated = NumberSum()
    negated.count = -count
    negated.add(isNegative: whole >= 0, whole.magnitude)
    negated.multiples = multiples.map { ($0.exponent, $0.multiple.negated) }
    negated.doubles = doubles.negated
    return negated
  }

  private mutating func place(ofExponent exponent: Int) -> Int {
    if let place = multiples.firstIndex(where: { $0.exponent == exponent }) { return place }
    multiples.append((exponent, Multiple()))
    return multiples.count - 1
  }

  private mutating func add(isNegative: Bool, _ magnitude: UInt128) {
    if let number = Int128(exactly: magnitude) {
      let (sum, isTooLarge) =
        isNegative
        ? whole.subtractingReportingOverflow(number) : whole.addingReportingOverflow(number)
      if !isTooLarge {
        whole = sum
        return
      }
    }
    multiples[place(ofExponent: 0)].multiple.add(isNegative: isNegative, magnitude)
  }

  /// The sum: a double if one was added, else an exact number.
  ///
  /// `nil` if the exact number has more digits than a `Decimal` holds, or is too large for one.
  public var value: QueryValue? {
    if multiples.isEmpty, doubles.count == 0 { return QueryValue(whole) }
    if doubles.count > 0 { return .double(nearest) }
    guard let number = exact.number, number.decimal != nil else { return nil }
    return QueryValue(number)
  }

  /// The sum as a double: the sum of the doubles and the sum of the other numbers, each rounded once, added.
  public var nearest: Double {
    if multiples.isEmpty, whole == 0 { return doubles.value }
    let exact = exact
    return (exact.number?.nearest ?? exact.approximation) + doubles.value
  }

  /// The sum of integers and decimal numbers, without zeros at its end.
  private var exact: ExactSum {
    var integers = Multiple()
    integers.add(isNegative: whole < 0, whole.magnitude)
    let all = multiples + [(0, integers)]
    let lowest = all.map(\.exponent).min() ?? 0
    var positive = BigNatural(0)
    var negative = BigNatural(0)
    for (exponent, multiple) in all {
      var number = multiple.magnitude
      if number.isZero { continue }
      number.multiply(byPowerOfTen: exponent - lowest)
      if multiple.isNegative { negative += number } else { positive += number }
    }
    let isNegative = positive < negative
    var sum = ExactSum(
      isNegative: isNegative,
      magnitude: isNegative
        ? negative.distance(from: positive) : positive.distance(from: negative), exponent: lowest)
    sum.removeZeros()
    return sum
  }
}

/// A sum of any size: ±`magnitude` × 10^`exponent`.
private struct ExactSum {
  let isNegative: Bool
  var magnitude: BigNatural
  var exponent: Int

  /// The sum as a number; `nil` if it needs more than 128 bits.
  var number: DecimalNumber? {
    magnitude.value.map {
      DecimalNumber(isNegative: isNegative, magnitude: $0, exponent: exponent)
    }
  }

  var approximation: Double {
    let unit = DecimalNumber(isNegative: isNegative, magnitude: 1, exponent: exponent)
    return magnitude.approximation * unit.nearest
  }

  mutating func removeZeros() {
    while !magnitude.isZero {
      var quotient = magnitude
      guard quotient.divideByTen() == 0 else { return }
      magnitude = quotient
      exponent += 1
    }
  }
}

/// A sum of up to 2⁶³ integers below 2¹²⁸, in two's complement of 192 bits.
fileprivate struct Multiple {
  private var low: UInt128 = 0
  private var high: Int64 = 0

  mutating func add(isNegative: Bool, _ magnitude: UInt128) {
    let (result, carries) =
      isNegative
      ? low.subtractingReportingOverflow(magnitude) : low.addingReportingOverflow(magnitude)
    low = result
    if carries { high += isNegative ? -1 : 1 }
  }

  var negated: Multiple {
    var negated = Multiple()
    negated.low = 0 &- low
    negated.high = ~high &+ (low == 0 ? 1 : 0)
    return negated
  }

  mutating func add(_ other: Multiple) {
    let (result, carries) = low.addingReportingOverflow(other.low)
    low = result
    high += other.high + (carries ? 1 : 0)
  }

  var isNegative: Bool { high < 0 }

  var magnitude: BigNatural {
    let positive = isNegative ? negated : self
    return BigNatural(
      words: [
        UInt64(truncatingIfNeeded: positive.low), UInt64(positive.low >> 64),
        UInt64(bitPattern: positive.high),
      ])
  }
}

/// A sum as bytes, in the rows of ``RangeTotal``; equal sums of equal counts have equal bytes.
///
/// ```
/// parts (1)  1 if there are multiples, 2 if there are doubles
/// count (8), integers (16)                                            all little-endian
/// multiples  their number (2); for each, by exponent: exponent (2), multiple (24)
/// doubles    see ``DoubleSum``
/// ```
extension NumberSum {
  private static let multiplesPart: UInt8 = 1
  private static let doublesPart: UInt8 = 2

  /// Appends the bytes.
  func append(to bytes: inout [UInt8]) {
    var (whole, multiples) = (whole, multiples)
    // Integers stand at one place: the first if they fit.
    if let place = multiples.firstIndex(where: { $0.exponent == 0 }) {
      multiples[place].multiple.add(isNegative: whole < 0, whole.magnitude)
      let integers = multiples[place].multiple.number
      whole = integers ?? 0
      if integers != nil { multiples.remove(at: place) }
    }
    multiples.removeAll { $0.multiple.isZero }
    let hasDoubles = !doubles.isEmpty
    bytes.append((multiples.isEmpty ? 0 : Self.multiplesPart) | (hasDoubles ? Self.doublesPart : 0))
    bytes.append(littleEndian: UInt64(bitPattern: Int64(count)))
    bytes.append(littleEndian: UInt128(bitPattern: whole))
    if !multiples.isEmpty {
      bytes.append(littleEndian: UInt64(multiples.count), width: 2)
      for (exponent, multiple) in multiples.ordered(by: { $0.exponent < $1.exponent }) {
        bytes.append(littleEndian: UInt64(bitPattern: Int64(exponent)), width: 2)
        multiple.append(to: &bytes)
      }
    }
    if hasDoubles { doubles.append(to: &bytes) }
  }

  /// Adds the sum that is next in a row.
  ///
  /// - Throws: The row's error if it is malformed.
  mutating func add(from row: inout RowReader) throws {
    let parts = try row.number(width: 1)
    guard parts <= Self.multiplesPart | Self.doublesPart else { throw row.malformed }
    count += Int(Int64(bitPattern: try row.number()))
    let more = Int128(bitPattern: try row.wideNumber())
    if case let (sum, false) = whole.addingReportingOverflow(more) {
      whole = sum
    } else {
      add(isNegative: more < 0, more.magnitude)
    }
    if parts == 0 { return }
    if parts & UInt64(Self.multiplesPart) != 0 {
      for _ in 0..<(try row.number(width: 2)) {
        let exponent = Int16(truncatingIfNeeded: try row.number(width: 2))
        let more = try Multiple(from: &row)
        multiples[place(ofExponent: Int(exponent))].multiple.add(more)
      }
    }
    if parts & UInt64(Self.doublesPart) != 0 { doubles.add(try DoubleSum(from: &row)) }
  }
}

extension Multiple {
  var isZero: Bool { low == 0 && high == 0 }

  /// The number, if it fits.
  var number: Int128? {
    let number = Int128(bitPattern: low)
    return high == (number < 0 ? -1 : 0) ? number : nil
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: low)
    bytes.append(littleEndian: UInt64(bitPattern: high))
  }

  init(from row: inout RowReader) throws {
    self.init()
    low = try row.wideNumber()
    high = Int64(bitPattern: try row.number())
  }
}
