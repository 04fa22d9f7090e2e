/// An exact number: the greatest double not above it, and its distance from that double.
///
/// The distance is below that of neighbouring doubles, so numbers compare by ``floor`` first.
/// Integers and doubles keep their exact value: `UInt64.max` differs from the nearest double.
struct ExactNumber: Comparable {
  let floor: Double
  /// 0 for doubles and integers equal to one; else below the distance of neighbouring doubles,
  /// which is 2 048 before 2⁶⁴ and 2⁷⁵ before 2¹²⁸.
  let rest: UInt128

  init(_ value: Double) {
    floor = value == 0 ? 0 : value  // one zero
    rest = 0
  }

  init(floor: Double, rest: UInt128) {
    self.floor = floor
    self.rest = rest
  }

  init(_ value: some FixedWidthInteger) {
    // If an integer is not a double, rounding down gives the next lower double.
    let nearest = Double(value)
    let floor =
      Self.isAbove(nearest, value) ? nearest.nextDown : nearest
    self.floor = floor
    rest = UInt128(Int128(value) - Int128(floor))
  }

  private static func isAbove(_ double: Double, _ value: some FixedWidthInteger) -> Bool {
    // 64 bits and their rounded value fit.
    Int128(double) > Int128(value)
  }

  /// Makes an integer from its sign and magnitude.
  init(isNegative: Bool, magnitude: UInt128) {
    let nearest = Double(magnitude)
    // 2¹²⁸ itself does not fit.
    let rounded = UInt128(exactly: nearest)
    if isNegative {
      let upper = rounded.map { $0 < magnitude } ?? false ? nearest.nextUp : nearest
      floor = upper == 0 ? 0 : -upper
      rest = (UInt128(exactly: upper) ?? 0) &- magnitude
    } else {
      floor = rounded.map { $0 > magnitude } ?? true ? nearest.nextDown : nearest
      rest = magnitude - UInt128(floor)
    }
  }

  /// Whether only integers beyond 64 bits lie between doubles of this magnitude.
  static func isWide(_ floor: Double) -> Bool { floor.magnitude >= 0x1p64 }

  /// The number as a value: an integer, or a double if there is no rest.
  var value: QueryValue {
    guard rest > 0 else { return .double(floor) }
    // Only −2¹²⁸ does not fit.
    let magnitude = UInt128(exactly: floor.magnitude) ?? 0
    let isNegative = floor < 0
    return QueryValue(
      isNegative: isNegative, magnitude: isNegative ? magnitude &- rest : magnitude &+ rest)
  }

  static func < (left: ExactNumber, right: ExactNumber) -> Bool {
    left.floor != right.floor ? left.floor < right.floor : left.rest < right.rest
  }
}
