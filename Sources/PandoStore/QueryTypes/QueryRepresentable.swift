public import FoundationEssentials
public import PandoModels

/// A type whose values can be compared in filters and kept in indexes.
///
/// ```swift
/// enum Status: String, Codable, QueryRepresentable { case open, closed }
/// struct Issue: Model, Codable, Equatable, Queryable {
///   var id: Int, status: Status
///   var modelIdentifier: String? { "Issue:\(id)" }
///   static let fields: [Field<Issue>] = [.indexed(\.status)]
/// }
/// let open = Query(filter: \Issue.status == .open)
/// ```
///
/// The value must be what the type's coding writes, because indexes are made from stored bytes. An
/// enumeration with raw values needs only the conformance.
public protocol QueryRepresentable: SendableMetatype {
  /// The kinds of its values; another kind in a filter is an error.
  static var queryKinds: Set<QueryValue.Kind> { get }

  /// The value.
  var queryValue: QueryValue { get }

  /// Makes the value again, for answers.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned if it is no ``queryValue`` of the type.
  init?(queryValue: QueryValue)
}

extension QueryRepresentable where Self: BinaryInteger & FixedWidthInteger {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number] }
  /// The number.
  public var queryValue: QueryValue { QueryValue(self) }

  /// Makes the number.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for one that the type does not have.
  public init?(queryValue: QueryValue) {
    switch queryValue {
    case .integer(let value): self.init(exactly: value)
    case .unsigned(let value): self.init(exactly: value)
    case .wideInteger(let isNegative, let magnitude):
      guard isNegative else {
        self.init(exactly: magnitude)
        return
      }
      guard magnitude <= Int128.min.magnitude else { return nil }
      self.init(exactly: Int128(truncatingIfNeeded: 0 &- magnitude))
    case .double(let value): self.init(exactly: value)
    default: return nil
    }
  }
}

extension Int: QueryRepresentable {}
extension Int8: QueryRepresentable {}
extension Int16: QueryRepresentable {}
extension Int32: QueryRepresentable {}
extension Int64: QueryRepresentable {}
extension UInt: QueryRepresentable {}
extension UInt8: QueryRepresentable {}
extension UInt16: QueryRepresentable {}
extension UInt32: QueryRepresentable {}
extension UInt64: QueryRepresentable {}
extension Int128: QueryRepresentable {}
extension UInt128: QueryRepresentable {}

extension Bool: QueryRepresentable {
  /// Truth values.
  public static var queryKinds: Set<QueryValue.Kind> { [.bool] }
  /// The truth value.
  public var queryValue: QueryValue { .bool(self) }

  /// Makes the truth value.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for another kind of value.
  public init?(queryValue: QueryValue) {
    guard case .bool(let value) = queryValue else { return nil }
    self = value
  }
}

extension Double: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number.
  public var queryValue: QueryValue { .double(self) }

  /// Makes the number, or the nearest.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is none.
  public init?(queryValue: QueryValue) {
    if case .double(let value) = queryValue {
      self = value
    } else if let number = queryValue.decimalNumber {
      self = number.nearest
    } else {
      return nil
    }
  }
}

extension Float: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number, which a double holds exactly.
  public var queryValue: QueryValue { .double(Double(self)) }

  /// Makes the number, or the nearest.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is none.
  public init?(queryValue: QueryValue) {
    guard let value = Double(queryValue: queryValue) else { return nil }
    self.init(value)
  }
}

extension String: QueryRepresentable {
  /// Texts.
  public static var queryKinds: Set<QueryValue.Kind> { [.string] }
  /// The text.
  public var queryValue: QueryValue { .string(self) }

  /// Makes the text.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for another kind of value.
  public init?(queryValue: QueryValue) {
    guard case .string(let value) = queryValue else { return nil }
    self = value
  }
}

extension Data: QueryRepresentable {
  /// Data.
  public static var queryKinds: Set<QueryValue.Kind> { [.data] }
  /// The bytes.
  public var queryValue: QueryValue { .data(self) }

  /// Makes the data.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for another kind of value.
  public init?(queryValue: QueryValue) {
    guard case .data(let value) = queryValue else { return nil }
    self = value
  }
}

extension Decimal: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number, exactly.
  ///
  /// A literal with a point is rounded to a double first: `Decimal(19.99)` is not 19.99. Make the
  /// number of a text, `Decimal(string: "19.99")`.
  public var queryValue: QueryValue { .decimal(self) }

  /// Makes the number.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is no number, and for a number
  ///   that `Decimal` does not represent exactly, as most doubles.
  public init?(queryValue: QueryValue) {
    let number: DecimalNumber?
    switch queryValue {
    case .double(let double) where double.isNaN:
      self = .nan
      return
    case .double(let double): number = DecimalNumber(exactly: double)
    default: number = queryValue.decimalNumber
    }
    guard let decimal = number?.decimal else { return nil }
    self = decimal
  }
}

extension Duration: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number] }
  /// The seconds, exactly.
  public var queryValue: QueryValue { .duration(self) }

  /// Makes the duration.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for a number that is no whole number of attoseconds, or is too large.
  public init?(queryValue: QueryValue) {
    // The row of an index has a double if the seconds are one.
    let number =
      if case .double(let double) = queryValue {
        DecimalNumber(exactly: double)
      } else {
        queryValue.decimalNumber
      }
    guard let seconds = number, seconds.exponent >= -18 else { return nil }
    let attoseconds = DecimalNumber(
      isNegative: false, magnitude: seconds.magnitude, exponent: seconds.exponent + 18)
    guard let magnitude = attoseconds.integer else { return nil }
    guard let value = Int128(exactly: magnitude) else { return nil }
    self.init(attoseconds: seconds.isNegative ? -value : value)
  }
}

extension Date: QueryRepresentable {
  /// Numbers: a date is stored as one.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The seconds since the reference date.
  public var queryValue: QueryValue { .date(self) }

  /// Makes the date.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is no number.
  public init?(queryValue: QueryValue) {
    guard let seconds = Double(queryValue: queryValue) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

extension UUID: QueryRepresentable {
  /// UUIDs.
  public static var queryKinds: Set<QueryValue.Kind> { [.uuid] }
  /// The UUID.
  public var queryValue: QueryValue { .uuid(self) }

  /// Makes the UUID.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for another kind of value.
  public init?(queryValue: QueryValue) {
    guard case .uuid(let value) = queryValue else { return nil }
    self = value
  }
}

extension URL: QueryRepresentable {
  /// Texts; a URL with a base URL is stored in two parts and can't be compared.
  public static var queryKinds: Set<QueryValue.Kind> { [.string, .composite] }
  /// The text.
  public var queryValue: QueryValue { baseURL == nil ? .string(absoluteString) : .composite }

  /// Makes the URL.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is none.
  public init?(queryValue: QueryValue) {
    guard case .string(let text) = queryValue else { return nil }
    self.init(string: text)
  }
}

extension Optional: QueryRepresentable where Wrapped: QueryRepresentable {
  /// The kinds of the value, and null.
  public static var queryKinds: Set<QueryValue.Kind> { Wrapped.queryKinds.union([.null]) }
  /// The value, or null.
  public var queryValue: QueryValue { self?.queryValue ?? .null }

  /// Makes the value, or `nil` of null.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what the value does not have.
  public init?(queryValue: QueryValue) {
    if case .null = queryValue {
      self = .none
    } else if let value = Wrapped(queryValue: queryValue) {
      self = .some(value)
    } else {
      return nil
    }
  }
}

extension Key: QueryRepresentable {}

extension QueryRepresentable where Self: RawRepresentable, RawValue: QueryRepresentable {
  /// The kinds of the raw value.
  public static var queryKinds: Set<QueryValue.Kind> { RawValue.queryKinds }
  /// The raw value.
  public var queryValue: QueryValue { rawValue.queryValue }

  /// Makes the value with a raw value.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what is none.
  public init?(queryValue: QueryValue) {
    guard let rawValue = RawValue(queryValue: queryValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}

extension QueryRepresentable where Self: CaseNamed {
  /// Texts.
  public static var queryKinds: Set<QueryValue.Kind> { [.string] }
  /// The name of the case.
  public var queryValue: QueryValue { .string(caseName) }

  /// Makes the case of a name.
  ///
  /// - Parameter queryValue: The name; `nil` is returned if no case has it.
  public init?(queryValue: QueryValue) {
    guard case .string(let name) = queryValue else { return nil }
    self.init(caseName: name)
  }
}
