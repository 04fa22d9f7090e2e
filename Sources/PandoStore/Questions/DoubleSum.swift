/// The exact sum of doubles, whatever their order; doubles can also be taken away again.
///
/// Each finite double is a multiple of 2⁻¹⁰⁷⁴. The sum is such a multiple too, kept in digits of 32 bits. A digit
/// may be negative or too large until the sum is read.
struct DoubleSum: Sendable {
  /// How many digits the largest sum of 2⁶⁰ doubles needs.
  private static let digitCount = 68
  /// After so many additions the digits are brought into range, so that none overflows.
  private static let additionMaximum = 1 << 30

  /// How many doubles are in the sum.
  private(set) var count = 0
  /// The lowest digit first; empty as long as only zeros and infinities were added.
  private var digits: [Int64] = []
  private var additionCount = 0
  private var infinityCount = 0
  private var negativeInfinityCount = 0

  /// Adds a double, which is no not-a-number.
  mutating func add(_ value: Double) { change(by: value, isAdded: true) }

  /// Takes away a double that was added.
  mutating func remove(_ value: Double) { change(by: value, isAdded: false) }

  /// Adds another sum.
  mutating func add(_ other: DoubleSum) {
    count += other.count
    infinityCount += other.infinityCount
    negativeInfinityCount += other.negativeInfinityCount
    if other.digits.isEmpty { return }
    var other = other
    other.carry()
    begin()
    for index in digits.indices { digits[index] += other.digits[index] }
    countAddition()
  }

  private mutating func change(by value: Double, isAdded: Bool) {
    let sign = isAdded ? 1 : -1
    count += sign
    guard value.isFinite else {
      if value > 0 { infinityCount += sign } else { negativeInfinityCount += sign }
      return
    }
    if value == 0 { return }
    begin()
    let exponent = Int(value.exponentBitPattern)
    let significand = value.significandBitPattern | (exponent == 0 ? 0 : 1 << 52)
    let place = max(exponent - 1, 0)
    let shifted = UInt128(significand) << UInt128(place % 32)
    let isNegative = (value < 0) == isAdded
    for offset in 0..<3 {
      let digit = Int64(UInt32(truncatingIfNeeded: shifted >> UInt128(32 * offset)))
      digits[place / 32 + offset] += isNegative ? -digit : digit
    }
    countAddition()
  }

  private mutating func begin() {
    if digits.isEmpty { digits = Array(repeating: 0, count: Self.digitCount) }
  }

  private mutating func countAddition() {
    additionCount += 1
    if additionCount >= Self.additionMaximum { carry() }
  }

  /// Brings all digits but the highest into 0..<2³²; the highest has the sign of the sum.
  private mutating func carry() {
    additionCount = 1
    var carried: Int64 = 0
    for index in digits.indices.dropLast() {
      let digit = digits[index] + carried
      digits[index] = Int64(UInt32(truncatingIfNeeded: digit))
      carried = digit >> 32
    }
    digits[digits.count - 1] += carried
  }

  /// The double nearest to the exact sum; infinite if that is too large, not-a-number if infinities of both signs
  /// were added.
  var value: Double {
    if infinityCount > 0 { return negativeInfinityCount > 0 ? .nan : .infinity }
    if negativeInfinityCount > 0 { return -.infinity }
    if digits.isEmpty { return 0 }
    let (isNegative, digits) = positive
    let magnitude = Self.magnitude(of: digits)
    return isNegative ? -magnitude : magnitude
  }

  /// The sign, and the digits of the magnitude in range.
  private var positive: (isNegative: Bool, digits: [Int64]) {
    if digits.isEmpty { return (false, []) }
    var sum = self
    sum.carry()
    let isNegative = sum.digits[sum.digits.count - 1] < 0
    if isNegative {
      for index in sum.digits.indices { sum.digits[index].negate() }
      sum.carry()
    }
    return (isNegative, sum.digits)
  }

  /// The nearest double of digits in range.
  private static func magnitude(of digits: [Int64]) -> Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let lowest = max(top - 2, 0)
    var head: UInt128 = 0
    for index in (lowest...top).reversed() { head = head << 32 | UInt128(digits[index]) }
    // Three digits are more than 64 bits, so the last bit only tells whether something follows.
    if digits[..<lowest].contains(where: { $0 != 0 }) { head |= 1 }
    let dropped = max(128 - head.leadingZeroBitCount - (Double.significandBitCount + 1), 0)
    var significand = UInt64(head >> UInt128(dropped))
    if dropped > 0 {
      let rest = head & ((1 << UInt128(dropped)) - 1)
      let half: UInt128 = 1 << UInt128(dropped - 1)
      if rest > half || rest == half && significand % 2 == 1 { significand += 1 }
    }
    let exponent = dropped + 32 * lowest - 1074
    return Double(sign: .plus, exponent: exponent, significand: Double(significand))
  }
}

/// A sum of doubles as bytes: the counts of all, of infinities and of negative infinities (8 each), then its sign
/// (1), and the place of its lowest digit (1), the number of digits (1), and these (4 each).
extension DoubleSum {
  /// Whether nothing has an effect: then it needs no bytes.
  var isEmpty: Bool {
    // Digits that are out of range may be those of zero.
    count == 0 && infinityCount == 0 && negativeInfinityCount == 0
      && positive.digits.allSatisfy { $0 == 0 }
  }

  /// The sum with the opposite of each double, which takes away as many doubles.
  var negated: DoubleSum {
    var negated = self
    negated.count = -count
    negated.infinityCount = -infinityCount
    negated.negativeInfinityCount = -negativeInfinityCount
    negated.digits = digits.map { -$0 }
    return negated
  }

  /// Appends the bytes.
  func append(to bytes: inout [UInt8]) {
    for count in [count, infinityCount, negativeInfinityCount] {
      bytes.append(littleEndian: UInt64(bitPattern: Int64(count)))
    }
    let (isNegative, digits) = positive
    bytes.append(isNegative ? 1 : 0)
    let first = digits.firstIndex { $0 != 0 } ?? 0
    let end = digits.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    bytes.append(UInt8(first))
    bytes.append(UInt8(end - first))
    for digit in digits[first..<end] {
      bytes.append(littleEndian: UInt64(bitPattern: digit), width: 4)
    }
  }

  /// Reads a sum.
  ///
  /// - Throws: The row's error if it is malformed.
  init(from row: inout RowReader) throws {
    self.init()
    count = Int(Int64(bitPattern: try row.number()))
    infinityCount = Int(Int64(bitPattern: try row.number()))
    negativeInfinityCount = Int(Int64(bitPattern: try row.number()))
    let isNegative = try row.number(width: 1) == 1
    let first = Int(try row.number(width: 1))
    let digitCount = Int(try row.number(width: 1))
    guard first + digitCount <= Self.digitCount else { throw row.malformed }
    if digitCount == 0 { return }
    begin()
    for index in first..<first + digitCount {
      let digit = Int64(try row.number(width: 4))
      digits[index] = isNegative ? -digit : digit
    }
  }
}
