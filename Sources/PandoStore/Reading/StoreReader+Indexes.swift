import PandoLMDB
import PandoModels
import PandoSystem

extension StoreReader {
  /// The indexes of a type, sorted by the names of their fields.
  func indexes(ofType type: UInt32) throws -> [StoredIndex] {
    var found: [StoredIndex] = []
    try snapshot.scan(tables.indexes, prefix: StoredIndex.bytes(type)) { key, value in
      found.append(try StoredIndex(key: key, value: value))
      return true
    }
    return found
  }

  /// All indexes, by type number.
  func indexes() throws -> [UInt32: [StoredIndex]] {
    if try snapshot.count(of: tables.indexes) == 0 { return [:] }
    var found: [UInt32: [StoredIndex]] = [:]
    try snapshot.scan(tables.indexes) { key, value in
      let index = try StoredIndex(key: key, value: value)
      found[index.type, default: []].append(index)
      return true
    }
    return found
  }

  /// Calls a closure with the keys of an index's rows in a range of values.
  func forEachRow(
    of index: StoredIndex, in range: IndexRange, reversed: Bool = false,
    _ body: (Span<UInt8>) throws -> Bool
  ) throws {
    let prefix = index.prefix
    let upper = range.upper.map { prefix + $0 } ?? IndexRange.successor(of: prefix)
    try snapshot.scan(
      tables.indexRows, from: prefix + range.lower, upTo: upper, reversed: reversed
    ) { key, _ in try body(key) }
  }
}

extension ModelSnapshot {
  /// Returns the indexes of the store.
  ///
  /// - Parameter typeName: Only those of a type; `nil` for all.
  /// - Returns: The indexes, sorted by the bytes of type and field. Those that no type of this
  ///   process declares are marked: ``ModelIndex/isUndeclared``.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*t* + *i* log *i*) for *t* types and *i* indexes, even for one type.
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
    return found.ordered { ($0.0, ByteString($0.1.name)) < ($1.0, ByteString($1.1.name)) }
      .map { name, index in
        var found = ModelIndex(typeName: name.text, index)
        found.isUndeclared = reader.directory.isUndeclared(found)
        return found
      }
  }

  /// Records which indexes a type declares.
  ///
  /// - Throws: ``StoreError`` `typeCollision`; `ModelError` for a type without a name of its own.
  package func noteDeclaredIndexes(
    _ indexes: [ModelIndex], of type: any SimpleModel.Type
  ) throws {
    let name = try reader.directory.name(of: type)
    reader.directory.noteDeclaredIndexes(indexes, ofType: name)
  }

  /// The same index with the declared former names and defaults of its fields; undeclared fields
  /// stay unchanged.
  package func index(_ index: ModelIndex, asReadBy declared: DeclaredFields) throws -> ModelIndex {
    func read(_ paths: [FieldPath]) -> [FieldPath] {
      paths.map { declared.stored($0.name) ?? $0 }
    }
    return try ModelIndex(
      typeName: index.typeName, paths: read(index.paths()), isUnique: index.isUnique,
      sums: index.sumPaths().map(read))
  }
}
