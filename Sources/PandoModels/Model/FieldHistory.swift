/// The former names and the defaults of a type's fields, so that old records still read.
///
/// ```swift
/// struct Person: Model, Codable {
///   var id: Int
///   var name: String
///   var language: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let fieldDefaults: [String: any Encodable & Sendable] = ["language": "en"]
///   static let formerFieldNames: [String: [String]] = ["name": ["fullName"]]
/// }
/// ```
///
/// Every model conforms. A value inside a model, such as an address, declares its own fields if it
/// conforms, too. A new optional field needs nothing: it reads as nil. Declare a default for a new field
/// that the type requires, and the former name of one that was renamed. Write the types of both
/// declarations out, as above: Swift takes a dictionary of another type for another property.
///
/// Indexes, unique fields, filters and orders see these values, too. Use a `Migration` for changes that
/// these declarations can't say.
///
/// - Note: Any thread. Pando reads both declarations when it first meets the type.
public protocol FieldHistory {
  /// Values for fields that a record lacks, by field name as stored.
  static var fieldDefaults: [String: any Encodable & Sendable] { get }

  /// Names that a field had before, the newest first, by its present name.
  ///
  /// They are looked for where a record lacks the present name.
  static var formerFieldNames: [String: [String]] { get }
}

extension FieldHistory {
  /// No defaults.
  public static var fieldDefaults: [String: any Encodable & Sendable] { [:] }

  /// No former names.
  public static var formerFieldNames: [String: [String]] { [:] }
}

/// A type that says which version its stored form has.
///
/// ```swift
/// struct Person: Model, Codable, SchemaVersioned {
///   var id: Int
///   var givenName: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let schemaVersion = 2
/// }
/// ```
///
/// A type that does not conform has version 1. Former names and defaults of fields need no version: see
/// ``FieldHistory``.
public protocol SchemaVersioned: FieldHistory {
  /// The version of the stored form, from 1; grows by one whenever a migration is needed.
  static var schemaVersion: Int { get }
}

extension SchemaVersioned {
  /// The first version.
  public static var schemaVersion: Int { 1 }
}
