public import FoundationEssentials

/// A number that questions can add.
///
/// Integers, `Double`, `Float`, `Decimal`, `Duration` and their optionals conform. A type with such a raw value
/// conforms by its declaration alone:
///
/// ```swift
/// struct Money: RawRepresentable, Codable, Hashable, Summable { var rawValue: Int }
/// let cents = try store.answer(.sum(\.total), to: Query<Order>.all)  // Int
/// ```
///
/// | field | sum | average |
/// |---|---|---|
/// | `Int`, `Int64`, `UInt64`, `Int128` and other integers of 64 bits and more | its type | `Double` |
/// | integers of fewer bits | `Int` | `Double` |
/// | `Double`, `Float` | `Double` | `Double` |
/// | `Decimal` | `Decimal` | `Decimal` |
/// | `Duration` | `Duration` | `Duration` |
public protocol Summable: QueryRepresentable {
  /// The type of a sum.
  associatedtype Sum: Sendable
  /// The type of an average.
  associatedtype Average: Sendable

  /// Returns the sum in its type.
  ///
  /// - Parameter values: The exact sum.
  /// - Returns: `nil` if it does not fit the type.
  static func sum(of values: NumberSum) -> Sum?

  /// Returns the average in its type.
  ///
  /// - Parameter values: The exact sum of at least one value.
  /// - Returns: `nil` if the sum does not fit the type.
  static func average(of values: NumberSum) -> Average?
}

extension Summable where Self: FixedWidthInteger {
  /// The sum, if it is in the range of the type.
  public static func sum(of values: NumberSum) -> Self? { Self(sum: values) }

  /// The sum, rounded to a double, divided by the count.
  public static func average(of values: NumberSum) -> Double? { values.average }
}

extension Int: Summable {}
extension Int64: Summable {}
extension UInt: Summable {}
extension UInt64: Summable {}
extension Int128: Summable {}
extension UInt128: Summable {}

extension Int8: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension Int16: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension Int32: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension UInt8: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension UInt16: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension UInt32: Summable {
  /// The sum, if it is in the range of `Int`.
  public static func sum(of values: NumberSum) -> Int? { Int(sum: values) }
}

extension Double: Summable {
  /// The sum; infinite if it is too large, not-a-number if infinities of both signs are added.
  public static func sum(of values: NumberSum) -> Double? { values.nearest }

  /// The sum divided by the count.
  public static func average(of values: NumberSum) -> Double? { values.average }
}

extension Float: Summable {
  /// The sum; infinite if it is too large, not-a-number if infinities of both signs are added.
  public static func sum(of values: NumberSum) -> Double? { values.nearest }

  /// The sum divided by the count.
  public static func average(of values: NumberSum) -> Double? { values.average }
}

extension Decimal: Summable {
  /// The exact sum, if a decimal can represent it.
  public static func sum(of values: NumberSum) -> Decimal? {
    Decimal(sum: values)
  }

  /// The exact sum divided by the count, rounded to the digits of a decimal.
  public static func average(of values: NumberSum) -> Decimal? {
    sum(of: values).map { $0 / Decimal(values.count) }
  }
}

extension Duration: Summable {
  /// The exact sum, if a duration can represent it.
  public static func sum(of values: NumberSum) -> Duration? {
    Duration(sum: values)
  }

  /// The exact sum divided by the count, rounded toward zero to attoseconds.
  public static func average(of values: NumberSum) -> Duration? {
    sum(of: values).map { $0 / values.count }
  }
}

extension Optional: Summable where Wrapped: Summable {
  /// The sum of the values; null does not count.
  public static func sum(of values: NumberSum) -> Wrapped.Sum? { Wrapped.sum(of: values) }

  /// The average of the values; null does not count.
  public static func average(of values: NumberSum) -> Wrapped.Average? {
    Wrapped.average(of: values)
  }
}

extension Summable where Self: RawRepresentable, RawValue: Summable {
  /// The sum of the raw values.
  public static func sum(of values: NumberSum) -> RawValue.Sum? { RawValue.sum(of: values) }

  /// The average of the raw values.
  public static func average(of values: NumberSum) -> RawValue.Average? {
    RawValue.average(of: values)
  }
}

extension QueryRepresentable {
  fileprivate init?(sum: NumberSum) {
    guard let value = sum.value else { return nil }
    self.init(queryValue: value)
  }
}

extension NumberSum {
  fileprivate var average: Double { nearest / Double(count) }
}
