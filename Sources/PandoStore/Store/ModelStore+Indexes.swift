import PandoModels

extension ModelStore {
  /// Makes the indexes that model types declare and the store lacks.
  ///
  /// The rows of an index contain each record as the type reads it, with its former names and defaults.
  /// If these declarations have changed since an index was made, Pando makes its rows again. All other
  /// indexes stay, unless `droppingUndeclared` is set. If a program of a newer schema version has written
  /// the type, the existing indexes stay as they are.
  ///
  /// ```swift
  /// try store.addIndexes(of: [Book.self], droppingUndeclared: true)
  /// ```
  /// - Parameters:
  ///   - types: The types.
  ///   - droppingUndeclared: Whether to remove the indexes of these types that no program declares; see
  ///     ``ModelIndex/isUndeclared``. Don't set it while other programs need indexes of their own.
  /// - Returns: The number of indexes that were made, or made again.
  /// - Throws: As ``ModelTransaction/addIndex(on:ofType:unique:sums:)``; `QueryError` `unknownField` for a
  ///   `FieldIndex` of a key path that is no declared field.
  /// - Complexity: O(*n* log *n*) for *n* records of a type that gets or loses an index.
  @discardableResult
  public func addIndexes(
    of types: [any Queryable.Type], droppingUndeclared: Bool = false
  ) throws -> Int {
    let (made, dropped) = try read { snapshot in
      try changes(for: types, droppingUndeclared, snapshot)
    }
    guard !made.isEmpty || !dropped.isEmpty else { return 0 }
    return try write { transaction in
      for index in dropped { try transaction.dropIndex(on: index.fields, ofType: index.typeName) }
      var count = 0
      for index in made where try transaction.addIndex(index) { count += 1 }
      return count
    }
  }

  /// Which indexes are to be made, maybe anew, and which are to be dropped.
  private func changes(
    for types: [any Queryable.Type], _ dropsUndeclared: Bool, _ snapshot: ModelSnapshot
  ) throws -> (made: [ModelIndex], dropped: [ModelIndex]) {
    var made: [ModelIndex] = []
    var dropped: [ModelIndex] = []
    for type in types {
      let wanted = try type.requireIndexes()
      try snapshot.noteDeclaredIndexes(wanted, of: type)
      let present = try snapshot.indexes(ofType: type.modelTypeName)
      // With a newer schema, the undeclared indexes are those of a newer program.
      let isNewer = try snapshot.hasNewerSchema(than: type)
      let kept = present.filter { isNewer || !dropsUndeclared || !$0.isUndeclared }
      // A declared one takes the place of a dropped one of the same fields.
      let missing = wanted.filter { index in !kept.contains { $0.serves(index) } }
      try type.prove(missing, snapshot)
      made += missing
      if isNewer { continue }
      dropped += present.filter { !kept.contains($0) }
      for index in kept {
        let read = try snapshot.index(index, asReadBy: type.declaredFields)
        if read.fallbacks != index.fallbacks || read.sumFallbacks != index.sumFallbacks {
          made.append(read)
        }
      }
    }
    return (made, dropped)
  }
}

extension Queryable {
  /// The indexes that the type declares: of the fields that are indexed, and of several together.
  package static var declaredIndexes: [ModelIndex] { (try? requireIndexes()) ?? [] }

  /// The same, which throws if one names what is no field.
  fileprivate static func requireIndexes() throws(QueryError) -> [ModelIndex] {
    var all = fields.filter(\.isIndexed)
      .map { ModelIndex(typeName: modelTypeName, paths: [$0.path], isUnique: false) }
    for index in indexes { all.append(try index.stored()) }
    return all
  }

  /// Compares the fields of indexes with records that are there.
  fileprivate static func prove(_ indexes: [ModelIndex], _ snapshot: ModelSnapshot) throws {
    let names = indexes.filter { $0.typeName == modelTypeName }.map(\.field)
    try snapshot.prove(names.compactMap(declaredFields.open), of: Self.self)
  }
}
