/// An index of a store: the sorted values of one or more fields of all records of a type.
///
/// Every transaction that changes the records updates it, and queries use it until it is removed.
/// An index of several fields serves equality of the first ones together with a range or an order
/// of the next:
///
/// ```swift
/// try store.write { try $0.addIndex(on: ["status", "author", "created"], ofType: "Issue") }
/// ```
/// One with totals also answers how many records a range has, and what their numbers add up to, without
/// reading them:
///
/// ```swift
/// try store.write { try $0.addIndex(on: ["day"], ofType: "Order", sums: ["total"]) }
/// ```
public struct ModelIndex: Hashable, Sendable {
  /// The type of the records.
  public let typeName: String
  /// The coding names of the fields; a name with dots leads through objects.
  public let fields: [String]
  /// Whether values must be unique among records; null is exempt.
  public let isUnique: Bool
  /// The coding names of the numbers that it sums up over any range of its values; `nil` if it keeps no totals.
  ///
  /// With totals, also without sums, the number of records in any range is known without reading its rows.
  public let sums: [String]?
  /// Whether the type does not declare it, according to `addIndexes(of:)` in this process.
  ///
  /// `false` without such a call: the type may then declare it. An index of a former version of the
  /// type is undeclared; `addIndexes(of:droppingUndeclared:)` removes it.
  public internal(set) var isUndeclared = false
  /// The fallbacks for missing fields, one per field; empty if there are none.
  package var fallbacks: [[UInt8]] = []
  /// The fallbacks of the summed fields; empty if there are none.
  package var sumFallbacks: [[UInt8]] = []

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
  ///   - sums: The numbers to sum up; `nil` for an index without totals.
  public init(
    typeName: String, fields: [String], isUnique: Bool = false, sums: [String]? = nil
  ) {
    self.typeName = typeName
    self.fields = fields
    self.isUnique = isUnique
    self.sums = sums
  }

  /// Describes an index of fields as a type reads them.
  package init(
    typeName: String, paths: [FieldPath], isUnique: Bool, sums: [FieldPath]? = nil
  ) {
    self.init(
      typeName: typeName, fields: paths.map(\.name), isUnique: isUnique, sums: sums?.map(\.name))
    fallbacks = Self.fallbacks(of: paths)
    sumFallbacks = Self.fallbacks(of: sums ?? [])
  }

  /// Describes a stored index.
  init(typeName: String, _ index: StoredIndex) {
    self.init(
      typeName: typeName, paths: index.fields, isUnique: index.isUnique, sums: index.sums)
  }

  private static func fallbacks(of paths: [FieldPath]) -> [[UInt8]] {
    let bytes = paths.map(\.fallbackBytes)
    return bytes.allSatisfy(\.isEmpty) ? [] : bytes
  }

  /// The fields with their fallbacks.
  ///
  /// - Throws: ``StoreError`` `damaged` for malformed bytes.
  func paths() throws -> [FieldPath] { try Self.paths(fields, fallbacks) }

  /// The summed fields with their fallbacks.
  ///
  /// - Throws: ``StoreError`` `damaged` for malformed bytes.
  func sumPaths() throws -> [FieldPath]? { try sums.map { try Self.paths($0, sumFallbacks) } }

  private static func paths(_ names: [String], _ fallbacks: [[UInt8]]) throws -> [FieldPath] {
    try names.enumerated().map { place, name in
      place < fallbacks.count
        ? try FieldPath(name, fallbackBytes: fallbacks[place]) : FieldPath(name)
    }
  }

  /// The field of an index of the words of texts, as `fields` has it.
  package static func words(of fields: [String]) -> String {
    FieldPath.words(of: fields.map { FieldPath($0) }).name
  }

  /// Whether its rows have words, or texts without case and accents, which earlier versions can't make.
  package var hasFoldedTexts: Bool {
    fields.contains { FieldPath($0).reading == .words || FieldPath($0).reading == .folded }
  }

  /// Whether it does what another one does: with the same fields, as unique, with all of its sums.
  func serves(_ other: ModelIndex) -> Bool {
    typeName == other.typeName && fields == other.fields && (isUnique || !other.isUnique)
      && (other.sums.map { Set($0).isSubset(of: sums ?? []) && sums != nil } ?? true)
  }

  /// Whether type, fields, uniqueness and sums are equal.
  ///
  /// - Parameters:
  ///   - left: An index.
  ///   - right: An index.
  /// - Returns: Whether type, fields, uniqueness and sums are equal.
  public static func == (left: ModelIndex, right: ModelIndex) -> Bool {
    left.typeName == right.typeName && left.fields == right.fields
      && left.isUnique == right.isUnique && left.sums == right.sums
  }

  /// Hashes type, fields, uniqueness and sums.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(typeName)
    hasher.combine(fields)
    hasher.combine(isUnique)
    hasher.combine(sums)
  }
}
