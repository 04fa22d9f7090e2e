public import FoundationEssentials
import PandoModels
import PandoRecords

/// A value of a field in filters, orders and indexes.
///
/// ```swift
/// let late = try Filter<Book>(field: "year", .greaterOrEqual, .integer(1900))
/// for group in result.groups { print(group.value, group.entities.count) }
/// ```
///
/// All values have one total order, in memory and on disk: null, Booleans (false first),
/// not-a-number, numbers, texts by their bytes, data, UUIDs, others. Numbers compare exactly,
/// regardless of their type: `3`, `3.0` and `Decimal(3)` are equal, and the two zeros are;
/// `UInt64.max` and the nearest `Double` are not. The double `0.1` is a binary fraction above one
/// tenth, so it is not equal to the decimal number 0.1, but above it. A date is the number of its
/// seconds since 2001-01-01 00:00 UTC, as it is stored, and a duration that of its seconds.
///
/// - Note: A value; any thread.
public enum QueryValue: Sendable {
  /// No value: an explicit null, or a field that is absent.
  case null

  /// A Boolean.
  case bool(Bool)

  /// An integer that fits `Int64`.
  case integer(Int64)

  /// An integer above `Int64.max`; smaller ones are ``integer(_:)``.
  case unsigned(UInt64)

  /// An integer beyond 64 bits, such as those of `Int128`, `UInt128` and JSON numbers of up to 38
  /// digits; smaller ones are ``integer(_:)`` and ``unsigned(_:)``.
  indirect case wideInteger(isNegative: Bool, magnitude: UInt128)

  /// A floating-point number.
  case double(Double)

  /// A decimal number, ±`magnitude` × 10^`exponent`.
  ///
  /// The magnitude has no zero at its end. A decimal number that is an integer below 2¹²⁸ is one of
  /// the integers above. ``decimal(_:)`` makes one of a `Decimal`, and
  /// `Decimal(queryValue:)` the reverse.
  indirect case decimal(isNegative: Bool, magnitude: UInt128, exponent: Int)

  /// A text.
  case string(String)

  /// Raw bytes.
  case data(Data)

  /// A UUID.
  case uuid(UUID)

  /// A value without an order: a list, a map, a value of several parts.
  ///
  /// All of them are equal.
  case composite

  /// The values of the elements of a list.
  ///
  /// A filter holds if it holds for one; an order and an equality treat it as ``composite``.
  case elements([QueryValue])

  /// Makes the value of a date: its seconds since the reference date.
  ///
  /// - Parameter date: The date.
  /// - Returns: A number.
  public static func date(_ date: Date) -> QueryValue {
    .double(date.timeIntervalSinceReferenceDate)
  }

  /// Makes the value of a decimal number.
  ///
  /// - Parameter decimal: The number.
  /// - Returns: A number, an integer if it is one; not-a-number is that of doubles.
  public static func decimal(_ decimal: Decimal) -> QueryValue {
    decimal.isNaN ? .double(.nan) : QueryValue(DecimalNumber(decimal))
  }

  /// Makes the value of a duration: its seconds, exactly.
  ///
  /// - Parameter duration: The duration.
  /// - Returns: A number.
  public static func duration(_ duration: Duration) -> QueryValue {
    let attoseconds = duration.attoseconds
    return QueryValue(
      DecimalNumber(
        isNegative: attoseconds < 0, magnitude: attoseconds.magnitude, exponent: -18))
  }

  /// Makes the value of a decimal number: an integer if it is one below 2¹²⁸.
  init(_ number: DecimalNumber) {
    if let integer = number.integer {
      self.init(isNegative: number.isNegative, magnitude: integer)
    } else {
      self = .decimal(
        isNegative: number.isNegative, magnitude: number.magnitude, exponent: number.exponent)
    }
  }

  /// Makes the value of an integer of up to 128 bits.
  ///
  /// - Parameter value: The integer; its magnitude is below 2¹²⁸.
  public init(_ value: some FixedWidthInteger) {
    self.init(isNegative: value < 0, magnitude: UInt128(value.magnitude))
  }

  /// Makes the value of an integer from its sign and magnitude.
  init(isNegative: Bool, magnitude: UInt128) {
    if let value = UInt64(exactly: magnitude), !isNegative {
      self = Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    } else if isNegative, magnitude <= UInt128(Int64.min.magnitude) {
      self = .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    } else {
      self = .wideInteger(isNegative: isNegative, magnitude: magnitude)
    }
  }
}

extension QueryValue {
  /// The kinds of values; `<` and `>` of a filter compare values of one kind only.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// No value.
    case null = 0x10
    /// Booleans.
    case bool = 0x20
    /// Floating-point not-a-number.
    case notANumber = 0x30
    /// Numbers and dates.
    case number = 0x40
    /// Texts.
    case string = 0x50
    /// Raw bytes.
    case data = 0x60
    /// UUIDs.
    case uuid = 0x70
    /// Lists, maps and other values of several parts.
    case composite = 0x80
  }

  /// The kind of this value.
  public var kind: Kind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer, .unsigned, .wideInteger, .decimal: .number
    case .double(let value): value.isNaN ? .notANumber : .number
    case .string: .string
    case .data: .data
    case .uuid: .uuid
    case .composite, .elements: .composite
    }
  }
}

extension QueryValue: Comparable, Hashable {
  /// Whether two values have the same position in the total order.
  ///
  /// - Parameters:
  ///   - left: A value.
  ///   - right: A value.
  /// - Returns: Whether they are equal.
  public static func == (left: QueryValue, right: QueryValue) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    default: left.order(to: right) == .orderedSame
    }
  }

  /// Whether a value comes before another in the total order.
  ///
  /// - Parameters:
  ///   - left: A value.
  ///   - right: A value.
  /// - Returns: Whether `left` comes first.
  public static func < (left: QueryValue, right: QueryValue) -> Bool {
    left.order(to: right) == .orderedAscending
  }

  /// Hashes the value; equal values have equal hashes.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .null, .composite, .elements: break
    case .bool(let value): hasher.combine(value)
    case .integer(let value): Self.hash(Double(value), into: &hasher)
    case .unsigned(let value): Self.hash(Double(value), into: &hasher)
    case .wideInteger(let isNegative, let magnitude):
      Self.hash(isNegative ? -Double(magnitude) : Double(magnitude), into: &hasher)
    case .double(let value): Self.hash(value, into: &hasher)
    case .decimal(let isNegative, let magnitude, let exponent):
      let number = DecimalNumber(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      Self.hash(number.nearest, into: &hasher)
    case .string(let value): value.hashBytes(into: &hasher)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    }
  }

  private static func hash(_ value: Double, into hasher: inout Hasher) {
    if !value.isNaN { hasher.combine(value) }
  }

  private func order(to other: QueryValue) -> ComparisonResult {
    let kind = kind
    let otherKind = other.kind
    guard kind == otherKind else { return .of(kind.rawValue, otherKind.rawValue) }
    return switch (self, other) {
    case (.bool(let left), .bool(let right)): .of(left ? 1 : 0, right ? 1 : 0)
    case (.integer(let left), .integer(let right)): .of(left, right)
    case (.unsigned(let left), .unsigned(let right)): .of(left, right)
    case (.integer, .unsigned): .orderedAscending
    case (.unsigned, .integer): .orderedDescending
    case (.double(let left), .double(let right)):
      kind == .notANumber ? .orderedSame : .of(left, right)
    case (.double(let left), .integer(let right)): .of(ExactNumber(left), ExactNumber(right))
    case (.integer(let left), .double(let right)): .of(ExactNumber(left), ExactNumber(right))
    case (.double(let left), .unsigned(let right)): .of(ExactNumber(left), ExactNumber(right))
    case (.unsigned(let left), .double(let right)): .of(ExactNumber(left), ExactNumber(right))
    case (.string(let left), .string(let right)):
      left.hasBytes(before: right)
        ? .orderedAscending : left.hasSameBytes(as: right) ? .orderedSame : .orderedDescending
    case (.data(let left), .data(let right)):
      left == right
        ? .orderedSame
        : left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
    case (.uuid(let left), .uuid(let right)): .of(left, right)
    default: wideOrder(to: other)
    }
  }

  /// The order of two numbers of which one is an integer beyond 64 bits or a decimal number;
  /// `orderedSame` for others.
  @inline(never)
  private func wideOrder(to other: QueryValue) -> ComparisonResult {
    switch (self, other) {
    case (.double(let left), _):
      guard let right = other.decimalNumber else { return .orderedSame }
      return right.order(to: left).reversed
    case (_, .double(let right)): return decimalNumber?.order(to: right) ?? .orderedSame
    default:
      guard let left = decimalNumber, let right = other.decimalNumber else { return .orderedSame }
      return .of(left, right)
    }
  }

  /// The number, unless it is a double.
  var decimalNumber: DecimalNumber? {
    switch self {
    case .integer(let value):
      DecimalNumber(isNegative: value < 0, magnitude: UInt128(value.magnitude), exponent: 0)
    case .unsigned(let value):
      DecimalNumber(isNegative: false, magnitude: UInt128(value), exponent: 0)
    case .wideInteger(let isNegative, let magnitude):
      DecimalNumber(isNegative: isNegative, magnitude: magnitude, exponent: 0)
    case .decimal(let isNegative, let magnitude, let exponent):
      DecimalNumber(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
    default: nil
    }
  }
}

extension QueryValue {
  /// Whether it is another value; lists, which are equal in an order of values, by their elements.
  package func differs(from other: QueryValue) -> Bool {
    guard case .elements(let values) = self, case .elements(let others) = other else {
      return self != other
    }
    return values.count != others.count
      || zip(values, others).contains { $0.differs(from: $1) }
  }
}

extension QueryValue: CustomStringConvertible {
  /// The value in the syntax of the command's filters.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .wideInteger(let isNegative, let magnitude): "\(isNegative ? "-" : "")\(magnitude)"
    case .double(let value): "\(value)"
    case .decimal(let isNegative, let magnitude, let exponent):
      DecimalText.text("\(isNegative ? "-" : "")\(magnitude)", exponent: Int64(exponent))
    case .string(let value): "\"\(value)\""
    case .data(let value): "data of \(value.count) bytes"
    case .uuid(let value): "\(value)"
    case .composite: "a value of several parts"
    case .elements(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    }
  }
}

extension QueryValue.Kind {
  /// The name of such values in messages.
  public var pluralName: String {
    switch self {
    case .null: "null"
    case .bool: "truth values"
    case .notANumber: "not-a-number"
    case .number: "numbers"
    case .string: "texts"
    case .data: "data"
    case .uuid: "UUIDs"
    case .composite: "values of several parts"
    }
  }
}

/// A comparison of a field with a value.
///
/// ```swift
/// let late = Filter<Book>.compare(.field(\.year), .greaterOrEqual, 1900)
/// let same = try Filter<Book>(field: "year", .greaterOrEqual, .integer(1900))
/// ```
public enum FilterComparison: String, Hashable, Sendable, CaseIterable {
  /// The same position in the total order.
  case equal = "=="
  /// Another position in the total order.
  case notEqual = "!="
  /// Before, among values of the same kind.
  case less = "<"
  /// Before or equal, among values of the same kind.
  case lessOrEqual = "<="
  /// After, among values of the same kind.
  case greater = ">"
  /// After or equal, among values of the same kind.
  case greaterOrEqual = ">="

  /// Whether a value has this relation to another.
  ///
  /// - Parameters:
  ///   - value: The value of a field.
  ///   - operand: The value to compare with.
  /// - Returns: Whether it has, or an element has; an order only holds between values of one kind.
  public func holds(_ value: QueryValue, _ operand: QueryValue) -> Bool {
    if case .elements(let values) = value { return values.contains { holds($0, operand) } }
    return switch self {
    case .equal: value == operand
    case .notEqual: value != operand
    case .less: value.kind == operand.kind && value < operand
    case .lessOrEqual: value.kind == operand.kind && value <= operand
    case .greater: value.kind == operand.kind && value > operand
    case .greaterOrEqual: value.kind == operand.kind && value >= operand
    }
  }
}
