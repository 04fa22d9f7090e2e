/// What a type may say about its earlier forms, so that old records still read.
///
/// A new optional field needs nothing: it reads as nil. Declare a default for a new field that the type
/// requires, and the former name of one that was renamed; every declaration is optional. What these
/// can't say is done by a migration when the store is opened.
public protocol SchemaVersioned {
  /// Values for fields that a record lacks, by field name as stored.
  static var fieldDefaults: [String: any Encodable & Sendable] { get }

  /// Names that a field had before, the newest first, by its present name.
  ///
  /// They are looked for where a record lacks the present name.
  static var formerFieldNames: [String: [String]] { get }

  /// The version of the stored form, from 1; grows by one whenever a migration is needed.
  static var schemaVersion: Int { get }
}

extension SchemaVersioned {
  /// No defaults.
  public static var fieldDefaults: [String: any Encodable & Sendable] { [:] }

  /// No former names.
  public static var formerFieldNames: [String: [String]] { [:] }

  /// The first version.
  public static var schemaVersion: Int { 1 }
}
