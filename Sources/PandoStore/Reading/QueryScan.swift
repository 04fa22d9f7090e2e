/// A query without a usable index, which read the records of a type one after the other.
///
/// ```swift
/// store.setScanHandler { log("\($0)") }
/// // Issue: a query by status, created looked at all 100000 records
/// ```
public struct QueryScan: Error, Sendable, Equatable, CustomStringConvertible {
  /// The queried type.
  public let typeName: String
  /// The number of records that it read; below the total if its limit ended it.
  public let recordCount: Int
  /// The number of records of the type.
  public let typeRecordCount: Int
  /// The fields of filter and order, without duplicates, by their stored names; an undeclared key
  /// path has none.
  public let fields: [String]

  /// One line for people.
  public var description: String {
    let names = fields.isEmpty ? "fields that are not declared" : fields.joined(separator: ", ")
    let count = recordCount < typeRecordCount ? "\(recordCount) of" : "all"
    return "\(typeName): a query by \(names) looked at \(count) \(typeRecordCount) records"
  }
}
