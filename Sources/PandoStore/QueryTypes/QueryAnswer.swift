/// The answer to a question about the records of a query.
///
/// ```swift
/// let open = try store.read { try $0.answer(.count, to: Query(filter: \Issue.status == .open)) }
/// print(open.count)
/// ```
public struct QueryAnswer: Sendable, Hashable {
  /// A value, and the number of records with it.
  ///
  /// ```swift
  /// let answer = try store.read { try $0.answer(.counts(by: \.year), to: Query<Book>.all) }
  /// for year in answer.counts { print(year.value, year.count) }
  /// ```
  public struct ValueCount: Sendable, Hashable {
    /// The value.
    public let value: QueryValue
    /// The number of records with it.
    public let count: Int

    package init(value: QueryValue, count: Int) {
      self.value = value
      self.count = count
    }
  }

  /// The number of records of the query; for `exists`, a minimum and a maximum, 0 or 1.
  public let count: Int
  /// The sum, the minimum or the maximum; null if there is none.
  public let value: QueryValue
  /// The number of records per value, sorted; null and not-a-number count as values.
  public let counts: [ValueCount]

  /// The values, without duplicates, sorted.
  public var values: [QueryValue] { counts.map(\.value) }

  package init(count: Int, value: QueryValue = .null, counts: [ValueCount] = []) {
    self.count = count
    self.value = value
    self.counts = counts
  }
}

extension QueryValue {
  /// Whether it counts in a sum, a minimum and a maximum: null, not-a-number and values of several
  /// parts do not.
  package var isValue: Bool { kind != .null && kind != .notANumber && kind != .composite }
}

/// Adds up numbers: integers exactly, others in the given order.
package struct ValueSum {
  private var whole: Int128 = 0
  private var rest: Double?

  package init() {}

  /// Adds a value; only numbers count.
  package mutating func add(_ value: QueryValue) {
    switch value {
    case .integer(let value): add(isNegative: value < 0, UInt128(value.magnitude))
    case .unsigned(let value): add(isNegative: false, UInt128(value))
    case .wideInteger(let isNegative, let magnitude): add(isNegative: isNegative, magnitude)
    case .double(let value) where !value.isNaN: rest = (rest ?? 0) + value
    default: break
    }
  }

  /// Adds an integer; beyond 128 bits, as a double.
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
    rest = (rest ?? 0) + (isNegative ? -Double(magnitude) : Double(magnitude))
  }

  /// The sum: an integer if it fits 64 bits and no double was added.
  package var value: QueryValue {
    if let rest { return .double(Double(whole) + rest) }
    if let whole = Int64(exactly: whole) { return .integer(whole) }
    return UInt64(exactly: whole).map { .unsigned($0) } ?? .double(Double(whole))
  }
}
