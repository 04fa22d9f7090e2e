/// An index of a store: the values of one field or of several over all records of one type, in order.
///
/// It is kept in the transaction of the records, whoever writes them, and answers queries until it is
/// dropped. One of several fields answers equality of the first ones together with a range or an
/// order of the next:
///
/// ```swift
/// try store.write { try $0.addIndex(on: ["status", "author", "created"], ofType: "Issue") }
/// ```
public struct ModelIndex: Hashable, Sendable {
  /// The type whose records it covers.
  public let typeName: String
  /// The fields, by the names under which they are coded; with dots one leads through objects.
  public let fields: [String]
  /// Whether no two records may have the same values, unless one of them is null.
  public let isUnique: Bool
  /// Whether the type does not declare it, as this process has given the type to `addIndexes(of:)`.
  ///
  /// `false` where the process has not: then the type may declare it. An index that a former version of
  /// the type has left behind is one of these; `addIndexes(of:dropping:)` removes them.
  public internal(set) var isUndeclared = false
  /// What counts where a record lacks a field, for each field; empty if nothing does.
  package var fallbacks: [[UInt8]] = []

  /// The field; of several, their names with commas between.
  public var field: String { fields.joined(separator: ", ") }

  /// Names an index.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - field: The field, by the name under which it is coded.
  public init(typeName: String, field: String) { self.init(typeName: typeName, fields: [field]) }

  /// Names an index of several fields, or one that allows each value once.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - fields: The fields, in the order of their weight.
  ///   - isUnique: Whether no two records may have the same values.
  public init(typeName: String, fields: [String], isUnique: Bool = false) {
    self.typeName = typeName
    self.fields = fields
    self.isUnique = isUnique
  }

  /// Names an index of fields as a type reads them.
  package init(typeName: String, paths: [FieldPath], isUnique: Bool) {
    self.init(typeName: typeName, fields: paths.map(\.name), isUnique: isUnique)
    let bytes = paths.map(\.fallbackBytes)
    fallbacks = bytes.allSatisfy(\.isEmpty) ? [] : bytes
  }

  /// The fields with what counts where a record lacks them.
  ///
  /// - Throws: ``StoreError`` `damaged` for malformed bytes.
  func paths() throws -> [FieldPath] {
    try fields.enumerated().map { place, name in
      place < fallbacks.count
        ? try FieldPath(name, fallbackBytes: fallbacks[place]) : FieldPath(name)
    }
  }

  /// Whether both cover the same fields of the same type, and are unique or not alike.
  ///
  /// - Parameters:
  ///   - left: An index.
  ///   - right: An index.
  /// - Returns: Whether type, fields and uniqueness are the same.
  public static func == (left: ModelIndex, right: ModelIndex) -> Bool {
    left.typeName == right.typeName && left.fields == right.fields
      && left.isUnique == right.isUnique
  }

  /// Feeds type, fields and uniqueness to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(typeName)
    hasher.combine(fields)
    hasher.combine(isUnique)
  }
}
