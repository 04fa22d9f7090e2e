import PandoModels

extension QueryScan {
  /// How many records of the type there are at least where a scan is told.
  static let recordCountMinimum = 1_000

  /// Notes a scan; `nil` where the query asks for all records in their order, or there are few.
  init?(_ query: RecordQuery, recordCount: Int, of typeRecordCount: Int) {
    guard typeRecordCount >= Self.recordCountMinimum else { return nil }
    var fields = query.uniqueBy + query.filter.fields
    for case .field(let field, _) in query.order { fields.append(field) }
    if fields.isEmpty { return nil }
    typeName = query.typeName
    self.recordCount = recordCount
    self.typeRecordCount = typeRecordCount
    var names: [String] = []
    for name in fields.compactMap(\.storedName) where !names.contains(name) { names.append(name) }
    self.fields = names
  }
}

extension RecordField {
  /// Under what name it is stored.
  fileprivate var storedName: String? {
    switch self {
    case .identifier: "id"
    case .named(let path), .child(let path), .computed(_, stored: let path?): path.name
    case .children: "$children"
    case .computed, .computedChild: nil
    }
  }
}
