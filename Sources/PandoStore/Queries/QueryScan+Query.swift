import PandoModels

extension QueryScan {
  /// The fewest records of a type at which a scan is reported.
  static let recordCountMinimum = 1_000

  /// Describes a scan; `nil` if the query selects all records in their order, or if there are few.
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
  /// The name under which it is stored.
  fileprivate var storedName: String? {
    switch self {
    case .identifier: "id"
    case .named(let path), .child(let path), .computed(_, stored: let path?): path.name
    case .children: "$children"
    case .computed, .computedChild: nil
    }
  }
}
