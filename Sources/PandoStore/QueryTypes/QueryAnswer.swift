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
  ///
  /// `Decimal(exactly:)` makes a `Decimal` of it.
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
