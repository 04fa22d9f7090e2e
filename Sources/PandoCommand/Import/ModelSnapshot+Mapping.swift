import PandoStore

extension ModelSnapshot {
  /// The mapping that imports left in the store; empty when there was none.
  func importMapping() throws -> ImportMapping {
    guard let bytes = try property(ImportMapping.propertyName) else { return ImportMapping() }
    return try ImportMapping(encoded: bytes)
  }
}

extension ModelTransaction {
  /// Adds a mapping to the one in the store, which another process may have changed since it was
  /// read; one that says nothing new is not written.
  mutating func keep(_ mapping: ImportMapping) throws {
    var kept = try snapshot.importMapping()
    kept.add(mapping)
    let bytes = kept.encoded()
    guard try snapshot.property(ImportMapping.propertyName) != bytes else { return }
    try setProperty(ImportMapping.propertyName, to: bytes)
  }
}
