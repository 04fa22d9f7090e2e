import FoundationEssentials
import PandoModels
import PandoRecords

/// A decimal number, compared exactly with others and with doubles.
///
/// Its value is ±`magnitude` × 10^`exponent`. The magnitude has no zero at its end, so equal numbers have
/// equal parts.
struct DecimalNumber: Hashable {
  let isNegative: Bool
  let magnitude: UInt128
  let exponent: Int

  init(isNegative: Bool, magnitude: UInt128, exponent: Int) {
    var (magnitude, exponent) = (magnitude, magnitude == 0 ? 0 : exponent)
    while magnitude > UInt128(UInt64.max) {
      let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { break }
      magnitude = quotient
      exponent += 1
    }
    // Divisions of 64 bits take a fraction of the time.
    if var small = UInt64(exactly: magnitude), small > 0 {
      while small.isMultiple(of: 10) {
        small /= 10
        exponent += 1
      }
      magnitude = UInt128(small)
    }
    self.isNegative = isNegative && magnitude > 0
    self.magnitude = magnitude
    self.exponent = exponent
  }

  /// Makes the number of a decimal, which is a number.
  init(_ decimal: Decimal) {
    let (magnitude, exponent) = decimal.parts
    self.init(isNegative: decimal.sign == .minus, magnitude: magnitude, exponent: exponent)
  }

  /// Makes the number that a double is exactly; `nil` if that needs more than 128 bits.
  init?(exactly double: Double) {
    guard double.isFinite else { return nil }
    if double == 0 {
      self.init(isNegative: false, magnitude: 0, exponent: 0)
      return
    }
    let shift = double.significand.significandWidth
    var magnitude = UInt128(
      double.significand * Double(sign: .plus, exponent: shift, significand: 1))
    var exponent = 0
    let power = Int(double.exponent) - shift
    // 2⁻ⁿ is 5ⁿ × 10⁻ⁿ.
    for _ in 0..<power.magnitude {
      let product = magnitude.multipliedReportingOverflow(by: power < 0 ? 5 : 2)
      if product.overflow { return nil }
      magnitude = product.partialValue
      if power < 0 { exponent -= 1 }
    }
    self.init(isNegative: double < 0, magnitude: magnitude, exponent: exponent)
  }

  static let powersOfTen: [UInt128] = (0...38).map { exponent in
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  /// The largest integer of which all smaller ones are doubles.
  private static let wholeDoubleMaximum: UInt128 = 1 << 53

  /// The largest power of ten that is a double.
  private static let doublePowerMaximum = 22

  /// The number as an integer below 2¹²⁸; `nil` if it is none.
  var integer: UInt128? {
    guard exponent >= 0, exponent < Self.powersOfTen.count else { return magnitude == 0 ? 0 : nil }
    let product = magnitude.multipliedReportingOverflow(by: Self.powersOfTen[exponent])
    return product.overflow ? nil : product.partialValue
  }

  /// The number as a value of Foundation; `nil` if that has no such exponent.
  var decimal: Decimal? {
    guard exponent > 127 else {
      return Decimal(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
    }
    guard exponent - 127 < Self.powersOfTen.count else { return nil }
    let product = magnitude.multipliedReportingOverflow(by: Self.powersOfTen[exponent - 127])
    if product.overflow { return nil }
    return Decimal(isNegative: isNegative, magnitude: product.partialValue, exponent: 127)
  }

  /// How many digits stand before the point; below 0 for zeros after it.
  var pointPosition: Int { exponent + digitCount }

  private var digitCount: Int {
    var count = 0
    while count < Self.powersOfTen.count, magnitude >= Self.powersOfTen[count] { count += 1 }
    return count
  }

  /// The greatest integer below the number; `nil` if there is a double at least as near.
  fileprivate var wideFloor: ExactNumber? {
    guard exponent < 0, -exponent < Self.powersOfTen.count else { return nil }
    let whole = magnitude / Self.powersOfTen[-exponent]
    guard whole >= Self.wholeDoubleMaximum else { return nil }
    return ExactNumber(isNegative: isNegative, magnitude: isNegative ? whole + 1 : whole)
  }
}

extension DecimalNumber {
  /// The nearest double.
  var nearest: Double {
    guard magnitude <= Self.wholeDoubleMaximum, exponent.magnitude <= Self.doublePowerMaximum else {
      return Double("\(isNegative ? "-" : "")\(magnitude)e\(exponent)") ?? .nan
    }
    // Both are doubles, so the result is rounded once (Clinger, "How to read floating point numbers
    // accurately").
    let power = Double(Self.powersOfTen[Int(exponent.magnitude)])
    let value = exponent < 0 ? Double(magnitude) / power : Double(magnitude) * power
    return isNegative ? -value : value
  }

  /// The greatest double or integer that is not above the number, and whether it is the number.
  var floor: (number: ExactNumber, isExact: Bool) {
    if let wideFloor { return (wideFloor, false) }
    let nearest = nearest
    let order = order(to: nearest)
    return (
      ExactNumber(order == .orderedAscending ? nearest.nextDown : nearest), order == .orderedSame
    )
  }

  /// The order of the number relative to a double, which is a number.
  func order(to double: Double) -> ComparisonResult {
    if magnitude == 0 || double == 0 || isNegative != (double < 0) {
      let sign = magnitude == 0 ? 0 : isNegative ? -1 : 1
      return .of(Double(sign), double)
    }
    guard double.isFinite else { return isNegative ? .orderedDescending : .orderedAscending }
    let order = magnitudeOrder(to: double.magnitude)
    return isNegative ? order.reversed : order
  }

  private func magnitudeOrder(to double: Double) -> ComparisonResult {
    if magnitude <= Self.wholeDoubleMaximum, exponent <= 0, -exponent <= Self.doublePowerMaximum {
      // Rounded once, so the sign is right.
      let power = Double(Self.powersOfTen[-exponent])
      return .of(0, (-Double(magnitude)).addingProduct(double, power))
    }
    let power = Int(double.exponent) - 52
    var number = BigNatural(magnitude)
    var other = BigNatural(
      UInt128(Double(sign: .plus, exponent: 52, significand: double.significand)))
    if exponent < 0 {
      other.multiply(byPowerOfTen: -exponent)
    } else {
      number.multiply(byPowerOfTen: exponent)
    }
    if power < 0 {
      number.multiply(byPowerOfTwo: -power)
    } else {
      other.multiply(byPowerOfTwo: power)
    }
    return .of(number, other)
  }
}

extension DecimalNumber: Comparable {
  static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    return left.isNegative
      ? right.hasLowerMagnitude(than: left) : left.hasLowerMagnitude(than: right)
  }

  private func hasLowerMagnitude(than other: DecimalNumber) -> Bool {
    if magnitude == 0 || other.magnitude == 0 { return magnitude < other.magnitude }
    if exponent == other.exponent { return magnitude < other.magnitude }
    let (position, otherPosition) = (pointPosition, other.pointPosition)
    if position != otherPosition { return position < otherPosition }
    // The one with fewer digits gets as many as the other; it is above 2¹²⁸ if they do not fit.
    if exponent > other.exponent {
      let wide = magnitude.multipliedReportingOverflow(
        by: Self.powersOfTen[exponent - other.exponent])
      return !wide.overflow && wide.partialValue < other.magnitude
    }
    let wide = other.magnitude.multipliedReportingOverflow(
      by: Self.powersOfTen[other.exponent - exponent])
    return wide.overflow || magnitude < wide.partialValue
  }
}

extension ComparisonResult {
  static func of<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: .orderedDescending
    case .orderedSame: .orderedSame
    case .orderedDescending: .orderedAscending
    }
  }
}

/// The bytes of a decimal number after those of its floor, in the index rows of numbers between which no
/// integer and no double lies.
///
/// ```
/// FF
/// number of digits before the point, plus 2¹⁵ (2), big endian      the bytes after FF inverted
/// pairs of digits, each plus 1, from the first digit on            if the number is below 0
/// 00
/// ```
extension DecimalNumber {
  /// The first byte; no value begins with it.
  static let mark: UInt8 = 0xFF

  /// Appends the bytes.
  func append(to bytes: inout [UInt8]) {
    let inversion: UInt8 = isNegative ? 0xFF : 0
    bytes.append(Self.mark)
    let position = UInt16(0x8000 + pointPosition)
    bytes.append(UInt8(position >> 8) ^ inversion)
    bytes.append(UInt8(truncatingIfNeeded: position) ^ inversion)
    var digits = magnitude.description.utf8.map { $0 - UInt8(ascii: "0") }
    if digits.count % 2 == 1 { digits.append(0) }
    for index in stride(from: 0, to: digits.count, by: 2) {
      bytes.append((10 * digits[index] + digits[index + 1] + 1) ^ inversion)
    }
    bytes.append(inversion)
  }

  /// The end of the bytes, beyond the row if that is too short.
  static func end(in row: Span<UInt8>, from start: Int, isNegative: Bool) -> Int {
    var place = start + 3
    while place < row.count, row[place] != (isNegative ? 0xFF : 0) { place += 1 }
    return place + 1
  }

  /// Reads the bytes of a number up to its end; `nil` if there are too few.
  init?(_ row: Span<UInt8>, from start: Int, isNegative: Bool) {
    guard start + 4 < row.count else { return nil }
    let inversion: UInt8 = isNegative ? 0xFF : 0
    let position = Int(row[start + 1] ^ inversion) << 8 | Int(row[start + 2] ^ inversion)
    var magnitude: UInt128 = 0
    var digitCount = 0
    for index in start + 3..<row.count - 1 {
      let pair = (row[index] ^ inversion) &- 1
      guard pair < 100 else { return nil }
      // The last zero of a number of 39 digits would not fit.
      let isOdd = index == row.count - 2 && pair % 10 == 0
      let (product, overflows) = magnitude.multipliedReportingOverflow(by: isOdd ? 10 : 100)
      let (sum, overflowsAgain) = product.addingReportingOverflow(UInt128(isOdd ? pair / 10 : pair))
      if overflows || overflowsAgain { return nil }
      magnitude = sum
      digitCount += isOdd ? 1 : 2
    }
    self.init(
      isNegative: isNegative, magnitude: magnitude, exponent: position - 0x8000 - digitCount)
  }
}
