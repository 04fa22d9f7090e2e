/// What is asked about the records that a query gives, instead of them.
package enum RecordQuestion: Sendable {
  case count
  case exists
  case sum(RecordField)
  case minimum(RecordField)
  case maximum(RecordField)
  /// How many have each value; those values alone are asked for in the same way.
  case counts(RecordField)
}

/// The answer to a question about the records that a query gives.
///
/// ```swift
/// let open = try store.read { try $0.answer(.count, to: Query(filter: \Issue.status == .open)) }
/// print(open.count)
/// ```
public struct QueryAnswer: Sendable, Hashable {
  /// A value, and how many records have it.
  ///
  /// ```swift
  /// let answer = try store.read { try $0.answer(.counts(by: \.year), to: Query<Book>.all) }
  /// for year in answer.counts { print(year.value, year.count) }
  /// ```
  public struct ValueCount: Sendable, Hashable {
    /// The value.
    public let value: QueryValue
    /// How many have it.
    public let count: Int

    package init(value: QueryValue, count: Int) {
      self.value = value
      self.count = count
    }
  }

  /// How many records the query gives; 0 or 1 where it was asked whether there is any, and where the
  /// lowest or the highest value was asked for.
  public let count: Int
  /// The sum, the lowest or the highest value; null if there is none.
  public let value: QueryValue
  /// How many have each value, in the order of values; null and not-a-number are values here.
  public let counts: [ValueCount]

  /// Which values there are, each once, in their order.
  public var values: [QueryValue] { counts.map(\.value) }

  package init(count: Int, value: QueryValue = .null, counts: [ValueCount] = []) {
    self.count = count
    self.value = value
    self.counts = counts
  }
}

extension QueryValue {
  /// Whether it counts in a sum, and as the lowest or highest value: null, not-a-number and values of
  /// several parts do not.
  package var isValue: Bool { kind != .null && kind != .notANumber && kind != .composite }
}

/// Adds up numbers: integers exactly, others in the order in which they come.
package struct ValueSum {
  private var whole: Int128 = 0
  private var rest: Double?

  package init() {}

  /// Adds a value; what is no number does not count.
  package mutating func add(_ value: QueryValue) {
    switch value {
    case .integer(let value): add(isNegative: value < 0, UInt128(value.magnitude))
    case .unsigned(let value): add(isNegative: false, UInt128(value))
    case .wideInteger(let isNegative, let magnitude): add(isNegative: isNegative, magnitude)
    case .double(let value) where !value.isNaN: rest = (rest ?? 0) + value
    default: break
    }
  }

  /// Adds an integer; as a double what is beyond 128 bits.
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

  /// The sum: an integer if it fits 64 bits and nothing else was added.
  package var value: QueryValue {
    if let rest { return .double(Double(whole) + rest) }
    if let whole = Int64(exactly: whole) { return .integer(whole) }
    return UInt64(exactly: whole).map { .unsigned($0) } ?? .double(Double(whole))
  }
}
