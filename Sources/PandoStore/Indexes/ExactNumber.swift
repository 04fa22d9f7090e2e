/// A 64-bit integer or a double as a place on one line: the greatest double that is not above it, and
/// how far above that it is.
///
/// Doubles that differ are further apart than an integer is above the one beneath it, so places
/// compare by ``floor`` first. Both integers and doubles keep their exact value: `UInt64.max` is not
/// the double next to it.
struct ExactNumber: Comparable {
  let floor: Double
  /// 0 for doubles and for integers that are one; below 2 048 always, the distance of neighbouring
  /// doubles before 2⁶⁴.
  let rest: UInt16

  init(_ value: Double) {
    floor = value == 0 ? 0 : value  // one zero
    rest = 0
  }

  init(_ value: some FixedWidthInteger) {
    // Rounding down an integer that is not a double gives the double beneath it.
    let nearest = Double(value)
    let floor =
      Self.isAbove(nearest, value) ? nearest.nextDown : nearest
    self.floor = floor
    rest = UInt16(Int128(value) - Int128(floor))
  }

  private static func isAbove(_ double: Double, _ value: some FixedWidthInteger) -> Bool {
    // 64 bits and the rounding up of them fit.
    Int128(double) > Int128(value)
  }

  static func < (left: ExactNumber, right: ExactNumber) -> Bool {
    left.floor != right.floor ? left.floor < right.floor : left.rest < right.rest
  }
}
