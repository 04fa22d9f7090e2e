/// An index of a store: the sorted values of one or more fields of all records of a type.
///
/// Every transaction that changes the records updates it, and queries use it until it is removed.
/// An index of several fields serves equality of the first ones together with a range or an order
/// of the next:
///
/// ```swift
/// try store.write { try $0.addIndex(on: ["status", "author", "created"], ofType: "Issue") }
/// ```
public struct ModelIndex: Hashable, Sendable {
  /// The type of the records.
  public let typeName: String
  /// The coding names of the fields; a name with dots leads through objects.
  public let fields: [String]
  /// Whether values must be unique among records; null is exempt.
  public let isUnique: Bool
  /// Whether the type does not declare it, according to `addIndexes(of:)` in this process.
  ///
  /// `false` without such a call: the type may then declare it. An index of a former version of the
  /// type is undeclared; `addIndexes(of:dropping:)` removes it.
  public internal(set) var isUndeclared = false
  /// The fallbacks for missing fields, one per field; empty if there are none.
  package var fallbacks: [[UInt8]] = []

  /// The field; several names are joined by commas.
  public var field: String { fields.joined(separator: ", ") }

  /// Describes an index of one field.
  ///
  /// - Parameters:
  ///   - typeName: The type of the records.
  ///   - field: The coding name of the field.
  public init(typeName: String, field: String) { self.init(typeName: typeName, fields: [field]) }

  /// Describes an index of several fields, or a unique one.
  ///
  /// - Parameters:
  ///   - typeName: The type of the records.
  ///   - fields: The fields, in the order of comparison.
  ///   - isUnique: Whether values must be unique among records.
  public init(typeName: String, fields: [String], isUnique: Bool = false) {
    self.typeName = typeName
    self.fields = fields
    self.isUnique = isUnique
  }

  /// Describes an index of fields as a type reads them.
  package init(typeName: String, paths: [FieldPath], isUnique: Bool) {
    self.init(typeName: typeName, fields: paths.map(\.name), isUnique: isUnique)
    let bytes = paths.map(\.fallbackBytes)
    fallbacks = bytes.allSatisfy(\.isEmpty) ? [] : bytes
  }

  /// The fields with their fallbacks.
  ///
  /// - Throws: ``StoreError`` `damaged` for malformed bytes.
  func paths() throws -> [FieldPath] {
    try fields.enumerated().map { place, name in
      place < fallbacks.count
        ? try FieldPath(name, fallbackBytes: fallbacks[place]) : FieldPath(name)
    }
  }

  /// Whether type, fields and uniqueness are equal.
  ///
  /// - Parameters:
  ///   - left: An index.
  ///   - right: An index.
  /// - Returns: Whether type, fields and uniqueness are equal.
  public static func == (left: ModelIndex, right: ModelIndex) -> Bool {
    left.typeName == right.typeName && left.fields == right.fields
      && left.isUnique == right.isUnique
  }

  /// Hashes type, fields and uniqueness.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(typeName)
    hasher.combine(fields)
    hasher.combine(isUnique)
  }
}
