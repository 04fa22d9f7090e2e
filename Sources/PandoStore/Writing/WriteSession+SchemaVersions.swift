import PandoModels

extension WriteSession {
  /// Takes over what a Swift type declares and the store keeps: deletion rules, and what counts in indexes
  /// where a record lacks a field.
  @_optimize(size)
  func takeDeclarations(of type: any SimpleModel.Type, _ number: UInt32) throws {
    if let rules = directory.deletionRules(of: type) {
      try setDeletionRules(rules, ofTypeNamed: directory.name(of: type))
    }
    try adoptFallbacks(of: type, number)
  }

  /// Whether a newer program than this one has written a type.
  @_optimize(size)
  func hasNewerSchema(than type: any SimpleModel.Type, named name: String) throws -> Bool {
    try Int(reading { try $0.schemaVersion(ofTypeNamed: name, state.types[name]) })
      > directory.schemaVersion(of: type, named: name)
  }

  /// Looks whether a newer program has written a type before this one writes it, and notes its own version.
  ///
  /// Once a flush for each type.
  ///
  /// - Throws: ``StoreError`` `newerSchema`, unless such writes are allowed.
  @_optimize(size)
  func checkSchemaVersion(of type: any SimpleModel.Type) throws {
    let name = try directory.name(of: type)
    let program = directory.schemaVersion(of: type, named: name)
    let stored = Int(
      try reading { try $0.schemaVersion(ofTypeNamed: name, state.types[name]) })
    if state.counters.isReplicated {
      // With the entry all machines learn of it, also where an earlier version has noted it in this store alone.
      let row = try reading { try $0.schemaRow(ofTypeNamed: name) }
      let shared = row?.position == nil ? 0 : row?.version ?? 0
      if max(1, shared, state.types[name]?.schemaVersion ?? 0) < program {
        state.schemas.append(SchemaNote(typeName: name, version: UInt32(clamping: program)))
      }
    } else if stored < program {
      let key = SchemaRow.key(name)
      let bytes = SchemaRow.bytes(UInt32(clamping: program))
      // It says nothing of the records.
      let wasHalfDone = state.isHalfDone
      try put(bytes.span, forKey: key.span, in: tables.meta)
      state.isHalfDone = wasHalfDone
    }
    guard stored > program else { return }
    switch core.configuration.newerSchemas {
    case .refuse:
      throw StoreError(
        .newerSchema, name,
        "the store has schema version \(stored), and this program has \(program), which would drop "
          + "newer fields; upgrade the program, or let it write by newerSchemas")
    case .event:
      core.report(
        .newerSchema(typeName: name, storedVersion: stored, programVersion: program))
    case .allow: break
    }
  }
}
