/// A query that no index has answered: it has looked at the records of a type, one after another.
///
/// ```swift
/// store.setScanHandler { log("\($0)") }
/// // Issue: a query by status, created looked at all 100000 records
/// ```
public struct QueryScan: Error, Sendable, Equatable, CustomStringConvertible {
  /// The type that was asked for.
  public let typeName: String
  /// How many records it has looked at; fewer than there are if its limit has ended it before.
  public let recordCount: Int
  /// How many records of the type there were.
  public let typeRecordCount: Int
  /// The fields of the filter and of the order, each once, under the names by which they are stored; a
  /// key path that is not declared has none.
  public let fields: [String]

  /// One line for a person.
  public var description: String {
    let names = fields.isEmpty ? "fields that are not declared" : fields.joined(separator: ", ")
    let count = recordCount < typeRecordCount ? "\(recordCount) of" : "all"
    return "\(typeName): a query by \(names) looked at \(count) \(typeRecordCount) records"
  }
}
