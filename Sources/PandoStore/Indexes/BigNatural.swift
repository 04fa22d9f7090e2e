/// A natural number of any size, for exact comparisons and sums of decimal numbers.
struct BigNatural: Comparable {
  /// 64 bits each, the lowest first; the last one is not zero.
  private(set) var words: [UInt64]

  init(_ value: UInt128) {
    self.init(words: [UInt64(truncatingIfNeeded: value), UInt64(value >> 64)])
  }

  init(words: [UInt64]) {
    self.words = words
    trim()
  }

  private mutating func trim() { while words.last == 0 { words.removeLast() } }

  var isZero: Bool { words.isEmpty }

  /// The number, if it has at most 128 bits.
  var value: UInt128? {
    if words.count > 2 { return nil }
    return words.reversed().reduce(0) { $0 << 64 | UInt128($1) }
  }

  /// The number as a double; its last bits may be wrong.
  var approximation: Double { words.reversed().reduce(0) { $0 * 0x1p64 + Double($1) } }

  mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for index in words.indices {
      let product = words[index].multipliedFullWidth(by: factor)
      let (low, overflows) = product.low.addingReportingOverflow(carry)
      words[index] = low
      carry = product.high + (overflows ? 1 : 0)
    }
    if carry > 0 { words.append(carry) }
    trim()
  }

  /// Multiplies by a power of ten, which is not below 1.
  mutating func multiply(byPowerOfTen exponent: Int) {
    var rest = exponent
    while rest > 0 {
      let step = min(rest, 19)
      multiply(by: UInt64(DecimalNumber.powersOfTen[step]))
      rest -= step
    }
  }

  /// Multiplies by a power of two, which is not below 1.
  mutating func multiply(byPowerOfTwo exponent: Int) {
    if isZero { return }
    multiply(by: 1 << UInt64(exponent % 64))
    words.insert(contentsOf: repeatElement(0, count: exponent / 64), at: 0)
  }

  /// Divides by ten.
  ///
  /// - Returns: The remainder.
  mutating func divideByTen() -> UInt64 {
    var remainder: UInt64 = 0
    for index in words.indices.reversed() {
      (words[index], remainder) = UInt64(10).dividingFullWidth((remainder, words[index]))
    }
    trim()
    return remainder
  }

  static func += (left: inout BigNatural, right: BigNatural) {
    var carry: UInt64 = 0
    for index in 0..<max(left.words.count, right.words.count) {
      if index == left.words.count { left.words.append(0) }
      let other = index < right.words.count ? right.words[index] : 0
      let sum = UInt128(left.words[index]) + UInt128(other) + UInt128(carry)
      left.words[index] = UInt64(truncatingIfNeeded: sum)
      carry = UInt64(sum >> 64)
    }
    if carry > 0 { left.words.append(carry) }
  }

  /// The distance from a number that is not above this one.
  func distance(from lower: BigNatural) -> BigNatural {
    var result = words
    var borrows = false
    for index in result.indices {
      let other = index < lower.words.count ? lower.words[index] : 0
      let (first, underflows) = result[index].subtractingReportingOverflow(other)
      let (second, underflowsAgain) = first.subtractingReportingOverflow(borrows ? 1 : 0)
      result[index] = second
      borrows = underflows || underflowsAgain
    }
    return BigNatural(words: result)
  }

  static func < (left: BigNatural, right: BigNatural) -> Bool {
    if left.words.count != right.words.count { return left.words.count < right.words.count }
    return left.words.reversed().lexicographicallyPrecedes(right.words.reversed())
  }
}
