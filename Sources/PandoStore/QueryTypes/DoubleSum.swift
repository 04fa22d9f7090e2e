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
    var sum = self
    sum.carry()
    let isNegative = sum.digits[sum.digits.count - 1] < 0
    if isNegative {
      for index in sum.digits.indices { sum.digits[index].negate() }
      sum.carry()
    }
    return isNegative ? -sum.magnitude : sum.magnitude
  }

  /// The nearest double of digits in range.
  private var magnitude: Double {
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
