import PandoSystem

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

  /// Makes the range of the rows that begin with values.
  init(values: [UInt8]) { self.init(lower: values, upper: Self.end(ofValues: values)) }

  /// The first bytes after all rows that begin with values.
  ///
  /// Decimal numbers above the last one have its bytes and their mark. The kinds of further values are
  /// below that, and so are the first bytes of node numbers below 255 × 2⁴⁰.
  static func end(ofValues values: [UInt8]) -> [UInt8] { values + [DecimalNumber.mark] }

  /// Makes the range of values in a relation to another; too large if a text was cut off.
  ///
  /// - Returns: `nil` for a relation that is not a range.
  init?(
    _ comparison: FilterComparison, _ operand: QueryValue,
    _ contentByteCountMaximum: Int = IndexValue.contentByteCountMaximum
  ) {
    let value = IndexValue(operand, contentByteCountMaximum)
    let whole = IndexRange(values: value.bytes)
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
    upper == Self.end(ofValues: lower)
      && IndexValue.end(ofValueIn: lower.span, from: 0).place == lower.count && !lower.isEmpty
  }

  /// The same range after values.
  func after(_ values: [UInt8]) -> IndexRange {
    if values.isEmpty { return self }
    return IndexRange(
      lower: values + lower, upper: upper.map { values + $0 } ?? Self.end(ofValues: values))
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
