/// The exact sum of numbers: integers, decimals, durations and doubles.
///
/// ``Summable`` turns it into the type of an answer.
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
  /// The others, as multiples of powers of ten, by exponent.
  private var multiples: [Int: Multiple] = [:]
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
      multiples[exponent, default: Multiple()].add(isNegative: isNegative == isAdded, magnitude)
    case .double(let value): if isAdded { doubles.add(value) } else { doubles.remove(value) }
    default: break
    }
  }

  /// Adds the numbers of another sum.
  mutating func add(_ other: NumberSum) {
    count += other.count
    add(isNegative: other.whole < 0, other.whole.magnitude)
    for (exponent, multiple) in other.multiples {
      multiples[exponent, default: Multiple()].add(multiple)
    }
    doubles.add(other.doubles)
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
    multiples[0, default: Multiple()].add(isNegative: isNegative, magnitude)
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

  /// The sum as a double: the nearest one to the exact sum of the doubles, and that to the sum of the others.
  public var nearest: Double {
    if multiples.isEmpty, whole == 0 { return doubles.value }
    let exact = exact
    return (exact.number?.nearest ?? exact.approximation) + doubles.value
  }

  /// The sum of integers and decimal numbers, without zeros at its end.
  private var exact: ExactSum {
    var all = multiples
    all[0, default: Multiple()].add(isNegative: whole < 0, whole.magnitude)
    let lowest = all.keys.min() ?? 0
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
private struct Multiple {
  private var low: UInt128 = 0
  private var high: Int64 = 0

  mutating func add(isNegative: Bool, _ magnitude: UInt128) {
    let (result, carries) =
      isNegative
      ? low.subtractingReportingOverflow(magnitude) : low.addingReportingOverflow(magnitude)
    low = result
    if carries { high += isNegative ? -1 : 1 }
  }

  mutating func add(_ other: Multiple) {
    let (result, carries) = low.addingReportingOverflow(other.low)
    low = result
    high += other.high + (carries ? 1 : 0)
  }

  var isNegative: Bool { high < 0 }

  var magnitude: BigNatural {
    let lower = isNegative ? 0 &- low : low
    let upper = isNegative ? ~high &+ (low == 0 ? 1 : 0) : high
    return BigNatural(
      words: [
        UInt64(truncatingIfNeeded: lower), UInt64(lower >> 64), UInt64(bitPattern: upper),
      ])
  }
}
