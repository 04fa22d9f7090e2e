import PandoModels

extension ModelStore {
  /// Puts in force what the types of the configuration declare.
  ///
  /// A replicated store does it once it follows its log, because all machines get these changes.
  package func declareModels() throws {
    let types = core.configuration.models
    guard !types.isEmpty, !core.configuration.isReadOnly else { return }
    try addIndexes(of: types.compactMap { $0 as? any Queryable.Type })
    let due = try read { snapshot in
      try types.filter { type in
        try snapshot.reader.lacksDeclarations(of: type) && !snapshot.hasNewerSchema(than: type)
      }
    }
    if due.isEmpty { return }
    try write { transaction in
      for type in due { try transaction.declare(type) }
    }
  }
}

extension ModelTransaction {
  /// Records the deletion rules and the schema version of a type.
  fileprivate mutating func declare(_ type: any SimpleModel.Type) throws {
    try session.whole { _ = try session.known(type) }
  }
}

extension StoreReader {
  /// Whether a type has deletion rules or a schema version that the store does not have.
  fileprivate func lacksDeclarations(of type: any SimpleModel.Type) throws -> Bool {
    let name = try directory.name(of: type)
    if let rules = directory.deletionRules(of: type)?.rules,
      try deletionRules(ofTypeNamed: name)?.rules ?? [] != rules
    {
      return true
    }
    let version = directory.schemaVersion(of: type, named: name)
    return try version > Int(schemaVersion(ofTypeNamed: name, typeRow(named: name)))
  }
}

extension WriteSession {
  /// Reports declared indexes that the store does not have, once per type.
  func reportMissingIndexes(of type: any SimpleModel.Type, _ number: UInt32) throws {
    guard let type = type as? any Queryable.Type, core.beginComparing(type) else { return }
    let wanted = type.declaredIndexes
    if wanted.isEmpty { return }
    let present = try indexes(ofType: number) ?? []
    let missing = wanted.filter { index in
      !present.contains { ModelIndex(typeName: index.typeName, $0).serves(index) }
    }
    guard !missing.isEmpty else { return }
    core.report(
      .missingIndexes(
        typeName: type.modelTypeName, fields: missing.map { $0.fields.joined(separator: ", ") }))
  }
}
