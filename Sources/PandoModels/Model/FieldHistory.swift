/// The former names and the defaults of a type's fields, for reading old records.
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
/// conforms, too. A new optional field needs no declaration: it is nil. Declare a default for a new
/// required field, and the former name of a renamed one. Write out both types as above, because
/// Swift treats a dictionary of another type as another property.
///
/// Indexes, unique fields, filters and orders use these values, too. For other changes use a
/// `Migration`.
///
/// - Note: Any thread. Pando reads both declarations at its first use of the type.
public protocol FieldHistory {
  /// Values for fields missing in a record, by stored field name.
  static var fieldDefaults: [String: any Encodable & Sendable] { get }

  /// Former names of fields, the newest first, by present name.
  ///
  /// They are used if a record lacks the present name.
  static var formerFieldNames: [String: [String]] { get }
}

extension FieldHistory {
  /// No defaults.
  public static var fieldDefaults: [String: any Encodable & Sendable] { [:] }

  /// No former names.
  public static var formerFieldNames: [String: [String]] { [:] }
}

/// A type with a version of its stored form.
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
/// A type that does not conform has version 1. Former names and defaults of fields need no version:
/// see ``FieldHistory``.
public protocol SchemaVersioned: FieldHistory {
  /// The version of the stored form, from 1; each migration increases it by one.
  static var schemaVersion: Int { get }
}

extension SchemaVersioned {
  /// The first version.
  public static var schemaVersion: Int { 1 }
}
