import StoreEngine

extension ModelSnapshot {
  /// The mapping that imports left in the store; empty when there was none.
  func importMapping() throws -> ImportMapping {
    guard let bytes = try property(ImportMapping.propertyName) else { return ImportMapping() }
    return try ImportMapping(encoded: bytes)
  }
}

extension ModelTransaction {
  /// Keeps a mapping in the store; one that is kept already is not written.
  mutating func keep(_ mapping: ImportMapping) throws {
    let bytes = mapping.encoded()
    guard try snapshot.property(ImportMapping.propertyName) != bytes else { return }
    try setProperty(ImportMapping.propertyName, to: bytes)
  }
}
