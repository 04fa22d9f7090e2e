import FoundationEssentials
import PandoSystem
import PandoModels

/// A ``QueryValue`` as bytes whose order is the total order of values: the middle of an index row's
/// key.
///
/// ```
/// kind (1)  then
/// number    the greatest double not above it, so turned that its bytes are in order (8), and how far
///           above that it is (2)
/// text      its UTF-8, each 0 as 00 FF, and the end 00 01; after 400 bytes cut off, the end 00 02
/// data      the same
/// UUID      its 16 bytes
/// bool      0 or 1
/// ```
/// All but long texts and data keep their exact value; of those that are cut off, rows that have the
/// same bytes may differ. See docs/format.md, "Indexes".
struct IndexValue: Equatable {
  /// How many bytes of a text or of data are kept; leaves room for the rest of the key in LMDB's 511.
  static let contentByteCountMaximum = 400

  let bytes: [UInt8]
  /// Whether the value can be longer than what is kept of it.
  let isCutOff: Bool

  init(_ value: QueryValue) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.usualByteCount)
    bytes.append(value.kind.rawValue)
    var isCutOff = false
    switch value {
    case .null, .composite: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer(let value): Self.append(ExactNumber(value), to: &bytes)
    case .unsigned(let value): Self.append(ExactNumber(value), to: &bytes)
    case .double(let value): if !value.isNaN { Self.append(ExactNumber(value), to: &bytes) }
    case .string(let text):
      isCutOff = Self.appendContent(text.utf8, to: &bytes)
      bytes += [0, isCutOff ? 2 : 1]
    case .data(let data):
      isCutOff = Self.appendContent(data, to: &bytes)
      bytes += [0, isCutOff ? 2 : 1]
    case .uuid(let uuid):
      unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
    }
    self.bytes = bytes
    self.isCutOff = isCutOff
  }

  /// Room that is enough for numbers, UUIDs and short texts.
  private static let usualByteCount = 32

  /// Whether a value is longer than what would be kept of it.
  static func cutsOff(_ value: QueryValue) -> Bool {
    let byteCount =
      switch value {
      case .string(let text): text.utf8.count
      case .data(let data): data.count
      default: 0
      }
    // Each byte becomes two at most.
    return 2 * byteCount > contentByteCountMaximum && IndexValue(value).isCutOff
  }

  /// Whether the value in a row has been cut off.
  static func isCutOff(_ value: Span<UInt8>) -> Bool {
    guard value.count > 2, value[value.count - 1] == 2 else { return false }
    return value[0] == QueryValue.Kind.string.rawValue || value[0] == QueryValue.Kind.data.rawValue
  }

  /// What the bytes of all texts with a prefix begin with.
  static func start(ofTextsWithPrefix prefix: String) -> [UInt8] {
    var bytes = [QueryValue.Kind.string.rawValue]
    _ = appendContent(prefix.utf8, to: &bytes)
    return bytes
  }

  private static func append(_ number: ExactNumber, to bytes: inout [UInt8]) {
    let bits = number.floor.bitPattern
    let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift)))
    }
    bytes.append(UInt8(number.rest >> 8))
    bytes.append(UInt8(truncatingIfNeeded: number.rest))
  }

  /// Appends content with its zeros escaped, as far as there is room.
  ///
  /// - Returns: Whether it was cut off.
  private static func appendContent(
    _ content: some Sequence<UInt8>, to bytes: inout [UInt8]
  ) -> Bool {
    let limit = bytes.count + contentByteCountMaximum
    for byte in content {
      guard bytes.count + (byte == 0 ? 2 : 1) <= limit else { return true }
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
    return false
  }
}

/// A range of values in the order of ``IndexValue`` bytes.
struct IndexRange: Equatable {
  /// The first bytes inside.
  let lower: [UInt8]
  /// The first bytes behind it; `nil` for none.
  let upper: [UInt8]?

  static let everything = IndexRange(lower: [], upper: nil)

  init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// All bytes that begin like this.
  init(prefix: [UInt8]) { self.init(lower: prefix, upper: Self.successor(of: prefix)) }

  /// The values that stand in a relation to another; too many where a text was cut off.
  ///
  /// - Returns: `nil` for a relation that is no range.
  init?(_ comparison: FilterComparison, _ operand: QueryValue) {
    let value = IndexValue(operand)
    let whole = IndexRange(prefix: value.bytes)
    let kind = IndexRange(prefix: [operand.kind.rawValue])
    switch comparison {
    case .equal: self = whole
    case .notEqual: return nil
    case .less: self.init(lower: kind.lower, upper: value.isCutOff ? whole.upper : whole.lower)
    case .lessOrEqual: self.init(lower: kind.lower, upper: whole.upper)
    case .greater:
      self.init(
        lower: value.isCutOff ? whole.lower : whole.upper ?? whole.lower, upper: kind.upper)
    case .greaterOrEqual: self.init(lower: whole.lower, upper: kind.upper)
    }
  }

  private var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// The first bytes behind all that begin like these; `nil` if there are none.
  static func successor(of bytes: [UInt8]) -> [UInt8]? {
    var bytes = bytes
    while let last = bytes.popLast() {
      if last < .max {
        bytes.append(last + 1)
        return bytes
      }
    }
    return nil
  }

  /// The same values as ranges in order that do not touch.
  static func union(_ ranges: [IndexRange]) -> [IndexRange] {
    if ranges.count == 1 { return ranges[0].isEmpty ? [] : ranges }
    let sorted = ranges.filter { !$0.isEmpty }
      .ordered { $0.lower.lexicographicallyPrecedes($1.lower) }
    var result: [IndexRange] = []
    for range in sorted {
      guard let last = result.last, !ends(last.upper, before: range.lower) else {
        result.append(range)
        continue
      }
      let upper: [UInt8]? =
        if let one = last.upper, let other = range.upper {
          one.lexicographicallyPrecedes(other) ? other : one
        } else {
          nil
        }
      result[result.count - 1] = IndexRange(lower: last.lower, upper: upper)
    }
    return result
  }

  private static func ends(_ upper: [UInt8]?, before lower: [UInt8]) -> Bool {
    guard let upper else { return false }
    return upper.lexicographicallyPrecedes(lower)
  }

  /// The values that are in both; each list is in order and its ranges do not touch.
  static func intersection(_ some: [IndexRange], _ others: [IndexRange]) -> [IndexRange] {
    var result: [IndexRange] = []
    for one in some {
      for other in others {
        let lower = one.lower.lexicographicallyPrecedes(other.lower) ? other.lower : one.lower
        let upper: [UInt8]? =
          if let first = one.upper, let second = other.upper {
            first.lexicographicallyPrecedes(second) ? first : second
          } else {
            one.upper ?? other.upper
          }
        let range = IndexRange(lower: lower, upper: upper)
        if !range.isEmpty { result.append(range) }
      }
    }
    return union(result)
  }
}

/// A 64-bit integer or a double as a point on one line: the greatest double that is not above it, and
/// how far above that it is.
///
/// Doubles that differ are further apart than an integer is above the one beneath it, so points
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
