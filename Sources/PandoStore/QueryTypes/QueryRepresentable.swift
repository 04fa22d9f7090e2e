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
}

extension QueryRepresentable where Self: BinaryInteger & FixedWidthInteger {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number] }
  /// The number.
  public var queryValue: QueryValue { QueryValue(self) }
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
}

extension Double: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number.
  public var queryValue: QueryValue { .double(self) }
}

extension Float: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number, which a double holds exactly.
  public var queryValue: QueryValue { .double(Double(self)) }
}

extension String: QueryRepresentable {
  /// Texts.
  public static var queryKinds: Set<QueryValue.Kind> { [.string] }
  /// The text.
  public var queryValue: QueryValue { .string(self) }
}

extension Data: QueryRepresentable {
  /// Data.
  public static var queryKinds: Set<QueryValue.Kind> { [.data] }
  /// The bytes.
  public var queryValue: QueryValue { .data(self) }
}

extension Decimal: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The number, exactly.
  ///
  /// A literal with a point is rounded to a double first: `Decimal(19.99)` is not 19.99. Make the
  /// number of a text, `Decimal(string: "19.99")`.
  public var queryValue: QueryValue { .decimal(self) }
}

extension Duration: QueryRepresentable {
  /// Numbers.
  public static var queryKinds: Set<QueryValue.Kind> { [.number] }
  /// The seconds, exactly.
  public var queryValue: QueryValue { .duration(self) }
}

extension Date: QueryRepresentable {
  /// Numbers: a date is stored as one.
  public static var queryKinds: Set<QueryValue.Kind> { [.number, .notANumber] }
  /// The seconds since the reference date.
  public var queryValue: QueryValue { .date(self) }
}

extension UUID: QueryRepresentable {
  /// UUIDs.
  public static var queryKinds: Set<QueryValue.Kind> { [.uuid] }
  /// The UUID.
  public var queryValue: QueryValue { .uuid(self) }
}

extension URL: QueryRepresentable {
  /// Texts; a URL with a base URL is stored in two parts and can't be compared.
  public static var queryKinds: Set<QueryValue.Kind> { [.string, .composite] }
  /// The text.
  public var queryValue: QueryValue { baseURL == nil ? .string(absoluteString) : .composite }
}

extension Optional: QueryRepresentable where Wrapped: QueryRepresentable {
  /// The kinds of the value, and null.
  public static var queryKinds: Set<QueryValue.Kind> { Wrapped.queryKinds.union([.null]) }
  /// The value, or null.
  public var queryValue: QueryValue { self?.queryValue ?? .null }
}

extension Key: QueryRepresentable {}

extension QueryRepresentable where Self: RawRepresentable, RawValue: QueryRepresentable {
  /// The kinds of the raw value.
  public static var queryKinds: Set<QueryValue.Kind> { RawValue.queryKinds }
  /// The raw value.
  public var queryValue: QueryValue { rawValue.queryValue }
}
