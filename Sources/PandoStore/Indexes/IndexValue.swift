import FoundationEssentials
import PandoModels
import PandoSystem

/// ``QueryValue``s as bytes in their total order: the middle part of an index row's key.
///
/// ```
/// kind (1)  then
/// number    the greatest double not above it, so turned that its bytes are in order (8), and how far
///           above that it is (2); of a double of 2⁶⁴ or more, also below 0, how many bytes that has (2),
///           and these
/// text      its UTF-8, each 0 as 00 FF, and the end 00 01; after 400 bytes cut off, the end 00 02
/// data      the same
/// UUID      its 16 bytes
/// bool      0 or 1
/// ```
/// The values of *n* fields are adjacent, and texts are cut off after 400 / *n* bytes. No value is
/// a prefix of another. All values are exact except long texts and data; different long ones may
/// have the same bytes. See docs/format.md, "Indexes".
struct IndexValue: Equatable {
  /// The most bytes kept of a text or of data; leaves room for the rest of the key in LMDB's 511.
  static let contentByteCountMaximum = 400

  private(set) var bytes: [UInt8] = []
  /// Whether a value was cut off.
  private(set) var isCutOff = false
  /// Whether it has an integer beyond 64 bits, which earlier versions encoded like a list.
  private(set) var hasWideInteger = false

  init() { bytes.reserveCapacity(Self.usualByteCount) }

  init(_ value: QueryValue, _ contentByteCountMaximum: Int = Self.contentByteCountMaximum) {
    self.init()
    append(value, contentByteCountMaximum)
  }

  /// Appends the value of the next field.
  mutating func append(_ value: QueryValue, _ limit: Int) {
    bytes.append(value.kind.rawValue)
    switch value {
    case .null, .composite, .elements: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer(let value): Self.append(ExactNumber(value), to: &bytes)
    case .unsigned(let value): Self.append(ExactNumber(value), to: &bytes)
    case .wideInteger(let isNegative, let magnitude):
      hasWideInteger = true
      Self.append(ExactNumber(isNegative: isNegative, magnitude: magnitude), to: &bytes)
    case .double(let value): if !value.isNaN { Self.append(ExactNumber(value), to: &bytes) }
    case .string(let text): appendContent(text.utf8, limit)
    case .data(let data): appendContent(data, limit)
    case .uuid(let uuid):
      unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  private mutating func appendContent(_ content: some Sequence<UInt8>, _ limit: Int) {
    let isCutOff = Self.appendContent(content, limit, to: &bytes)
    bytes += [0, isCutOff ? 2 : 1]
    if isCutOff { self.isCutOff = true }
  }

  /// Enough room for numbers, UUIDs and short texts.
  private static let usualByteCount = 32

  /// Whether a value would be cut off.
  static func cutsOff(_ value: QueryValue, _ limit: Int = contentByteCountMaximum) -> Bool {
    let byteCount =
      switch value {
      case .string(let text): text.utf8.count
      case .data(let data): data.count
      default: 0
      }
    // Escaping doubles a byte at most.
    return 2 * byteCount > limit && IndexValue(value, limit).isCutOff
  }

  /// Finds the end of a value in a row.
  ///
  /// - Parameters:
  ///   - row: The values of a row.
  ///   - start: The start of the value.
  /// - Returns: The end, beyond the row if that is too short, and whether the value was cut off.
  static func end(
    ofValueIn row: Span<UInt8>, from start: Int
  ) -> (place: Int, isCutOff: Bool) {
    guard start < row.count else { return (start, false) }
    let byteCount: Int
    switch QueryValue.Kind(rawValue: row[start]) {
    case .bool: byteCount = 2
    case .number:
      let isWide = row.count > start + 10 && isWide(numberIn: row, from: start)
      byteCount = isWide ? 11 + Int(row[start + 10]) : 11
    case .uuid: byteCount = 17
    case .string, .data:
      var place = start + 1
      while place + 1 < row.count {
        if row[place] == 0 {
          if row[place + 1] != 0xFF { return (place + 2, row[place + 1] == 2) }
          place += 1
        }
        place += 1
      }
      return (row.count + 1, false)
    default: byteCount = 1
    }
    return (start + byteCount, false)
  }

  /// Whether a value in a row was cut off at this limit.
  static func isCutOff(_ row: Span<UInt8>, _ limit: Int) -> Bool {
    // A value that was cut off has its kind, all bytes but at most one, and an end of two.
    guard row.count >= limit + 2 else { return false }
    var place = 0
    while place < row.count {
      let end = end(ofValueIn: row, from: place)
      if end.isCutOff { return true }
      place = end.place
    }
    return false
  }

  /// The value of a row, from its bytes alone; `nil` if it was cut off.
  ///
  /// It equals the original value, but does not show whether a whole number was an integer.
  static func value(_ bytes: Span<UInt8>) -> QueryValue? {
    guard bytes.count > 0 else { return nil }
    switch QueryValue.Kind(rawValue: bytes[0]) {
    case .null: return .null
    case .notANumber: return .double(.nan)
    case .bool where bytes.count == 2: return .bool(bytes[1] == 1)
    case .number where bytes.count >= 11: return number(bytes)
    case .string where bytes.count > 2 && bytes[bytes.count - 1] == 1:
      return String(validating: content(bytes).span, as: UTF8.self).map { .string($0) }
    case .data where bytes.count > 2 && bytes[bytes.count - 1] == 1:
      return .data(Data(content(bytes)))
    case .uuid where bytes.count == 17:
      return unsafe bytes.withUnsafeBytes { bytes in
        // Sixteen bytes follow the first.
        .uuid(UUID(uuid: unsafe bytes.loadUnaligned(fromByteOffset: 1, as: uuid_t.self)))
      }
    default: return nil
    }
  }

  /// The number in a row.
  private static func number(_ bytes: Span<UInt8>) -> QueryValue {
    let floor = floor(ofNumberIn: bytes, from: 0)
    var rest: UInt128 = 0
    let isWide = isWide(numberIn: bytes, from: 0)
    for index in isWide ? 11..<bytes.count : 9..<11 { rest = rest << 8 | UInt128(bytes[index]) }
    guard isWide else {
      if let whole = Int64(exactly: floor) { return .integer(whole &+ Int64(rest)) }
      return UInt64(exactly: floor).map { .unsigned($0 &+ UInt64(rest)) }
        ?? ExactNumber(floor: floor, rest: rest).value
    }
    return ExactNumber(floor: floor, rest: rest).value
  }

  /// Whether a number has the long form of a double of magnitude 2⁶⁴ or more.
  private static func isWide(numberIn row: Span<UInt8>, from start: Int) -> Bool {
    ExactNumber.isWide(floor(ofNumberIn: row, from: start))
  }

  private static func floor(ofNumberIn row: Span<UInt8>, from start: Int) -> Double {
    var bits: UInt64 = 0
    for index in 1..<9 { bits = bits << 8 | UInt64(row[start + index]) }
    return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }

  /// The content of a text or of data, without escapes.
  private static func content(_ bytes: Span<UInt8>) -> [UInt8] {
    var content: [UInt8] = []
    var index = 1
    while index < bytes.count - 2 {
      content.append(bytes[index])
      index += bytes[index] == 0 ? 2 : 1
    }
    return content
  }

  /// The common first bytes of all texts with a prefix.
  static func start(
    ofTextsWithPrefix prefix: String, _ limit: Int = contentByteCountMaximum
  ) -> [UInt8] {
    var bytes = [QueryValue.Kind.string.rawValue]
    _ = appendContent(prefix.utf8, limit, to: &bytes)
    return bytes
  }

  private static func append(_ number: ExactNumber, to bytes: inout [UInt8]) {
    let bits = number.floor.bitPattern
    let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift)))
    }
    guard ExactNumber.isWide(number.floor) else {
      bytes.append(UInt8(number.rest >> 8))
      bytes.append(UInt8(truncatingIfNeeded: number.rest))
      return
    }
    let byteCount = (UInt128.bitWidth - number.rest.leadingZeroBitCount + 7) / 8
    bytes += [0, UInt8(byteCount)]
    for index in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number.rest >> UInt128(8 * index)))
    }
  }

  /// Appends content with escaped zeros, up to the limit.
  ///
  /// - Returns: Whether it was cut off.
  private static func appendContent(
    _ content: some Sequence<UInt8>, _ limit: Int, to bytes: inout [UInt8]
  ) -> Bool {
    let limit = bytes.count + limit
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
  /// The first bytes of the range.
  let lower: [UInt8]
  /// The first bytes after the range; `nil` for no end.
  let upper: [UInt8]?

  static let everything = IndexRange(lower: [], upper: nil)

  init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// Makes the range of all bytes with a prefix.
  init(prefix: [UInt8]) { self.init(lower: prefix, upper: Self.successor(of: prefix)) }

  /// Makes the range of values in a relation to another; too large if a text was cut off.
  ///
  /// - Returns: `nil` for a relation that is not a range.
  init?(
    _ comparison: FilterComparison, _ operand: QueryValue,
    _ contentByteCountMaximum: Int = IndexValue.contentByteCountMaximum
  ) {
    let value = IndexValue(operand, contentByteCountMaximum)
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

  /// Whether the range has only one value, or values with the same truncation.
  var isOneValue: Bool {
    upper == Self.successor(of: lower)
      && IndexValue.end(ofValueIn: lower.span, from: 0).place == lower.count && !lower.isEmpty
  }

  /// The same range after a prefix.
  func after(_ prefix: [UInt8]) -> IndexRange {
    IndexRange(
      lower: prefix + lower, upper: upper.map { prefix + $0 } ?? Self.successor(of: prefix))
  }

  /// The first bytes after all that have a prefix; `nil` if there are none.
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

  /// The same values as sorted, disjoint ranges.
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

  /// The common values of two lists of sorted, disjoint ranges.
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
