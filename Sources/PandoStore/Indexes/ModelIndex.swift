import PandoLMDB
import PandoModels

/// An index of a store: the values of one field over all records of one type, in order.
///
/// It is kept in the transaction of the records, whoever writes them, and answers queries until it is
/// dropped.
public struct ModelIndex: Hashable, Sendable {
  /// The type whose records it covers.
  public let typeName: String
  /// The field, by the name under which it is coded; with dots it leads through objects.
  public let field: String

  /// Names an index.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - field: The field, by the name under which it is coded.
  public init(typeName: String, field: String) {
    self.typeName = typeName
    self.field = field
  }
}

extension ModelTransaction {
  /// Makes an index of a field from the records there are, and keeps it from now on.
  ///
  /// - Parameters:
  ///   - field: The name under which the field is coded; with dots it leads through objects.
  ///   - typeName: The type, which need not have any records yet.
  /// - Returns: Whether there was no such index before.
  /// - Throws: ``StoreError`` `invalidIndex` for an empty or too long name; `ModelError` `badTypeName`;
  ///   `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func addIndex(on field: String, ofType typeName: String) throws -> Bool {
    try work.whole { try work.addIndex(onField: field, ofTypeNamed: typeName) }
  }

  /// Removes an index.
  ///
  /// - Parameters:
  ///   - field: The name under which the field is coded.
  ///   - typeName: The type.
  /// - Returns: Whether there was such an index.
  /// - Throws: `LMDBError` when the disk refuses.
  /// - Complexity: O(*n* log *n*) for *n* records of the type.
  @discardableResult
  public mutating func dropIndex(on field: String, ofType typeName: String) throws -> Bool {
    try work.whole { try work.dropIndex(onField: field, ofTypeNamed: typeName) }
  }
}

extension ModelSnapshot {
  /// Returns the indexes of the store.
  ///
  /// - Parameter typeName: Only those of a type; `nil` for all.
  /// - Returns: The indexes, sorted by the bytes of type and field.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  public func indexes(ofType typeName: String? = nil) throws -> [ModelIndex] {
    var names: [UInt32: String] = [:]
    try reader.forEachType { name, row in names[row.number] = name }
    var found: [(ByteString, StoredIndex)] = []
    for (type, indexes) in try reader.indexes() {
      guard let name = names[type] else {
        throw StoreError.damaged("type number \(type)", "it has indexes but no such type is there")
      }
      if let typeName, !name.hasSameBytes(as: typeName) { continue }
      found += indexes.map { (ByteString(name), $0) }
    }
    return found.map { ($0, ByteString($1.field.name)) }.sorted { $0 < $1 }
      .map { ModelIndex(typeName: $0.text, field: $1.text) }
  }
}
