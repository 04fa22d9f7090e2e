import PandoLMDB
import PandoModels

extension StoreReader {
  /// The rules of a type; `nil` if it has none.
  func deletionRules(ofTypeNamed name: String) throws -> DeletionRules? {
    let key = DeletionRules.key(name)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try DeletionRules(bytes, typeName: name)
  }

  /// The rules of all types with rules, by type number.
  func deletionRules() throws -> [UInt32: DeletionRules] {
    var rules: [UInt32: DeletionRules] = [:]
    try snapshot.scan(tables.meta, prefix: DeletionRules.prefix) { key, value in
      let bytes = key.extracting(DeletionRules.prefix.count..<key.count)
      let name = try bytes.text("the name of a type")
      if let row = try typeRow(named: name) {
        rules[row.number] = try DeletionRules(value, typeName: name)
      }
      return true
    }
    return rules
  }
}
