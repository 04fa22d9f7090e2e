import PandoLMDB
package import PandoModels

extension StoreReader {
  /// The newest schema version of a type that a program or a migration has written, at least 1.
  func schemaVersion(ofTypeNamed name: String, _ row: TypeRow?) throws -> UInt32 {
    max(1, row?.schemaVersion ?? 0, try schemaRow(ofTypeNamed: name)?.version ?? 0)
  }

  func schemaRow(ofTypeNamed name: String) throws -> SchemaRow? {
    let key = SchemaRow.key(name)
    guard let value = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try SchemaRow(value, name)
  }
}

extension ModelSnapshot {
  /// Whether a newer program than this one has written a type.
  package func hasNewerSchema(than type: any SimpleModel.Type) throws -> Bool {
    let name = try reader.directory.name(of: type)
    let row = try reader.typeRow(named: name)
    return try Int(reader.schemaVersion(ofTypeNamed: name, row))
      > reader.directory.schemaVersion(of: type, named: name)
  }
}
