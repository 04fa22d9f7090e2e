import PandoModels

extension WriteSession {
  func recordCount(ofTypeNamed name: String) -> UInt64? {
    guard let row = state.types[name] else { return nil }
    return row.recordCount &+ UInt64(bitPattern: Int64(recordDifference(ofType: row.number)))
  }

  var counters: StoreState { state.counters }
  var newestChanges: NewestChanges? { state.newestChanges }

  func typeBlock(_ number: UInt64) -> TypeBlock? { state.typeBlocks[number] }

  func typeBlockNumbers(ofType type: UInt32) -> [UInt64] {
    state.typeBlocks.numbers.filter { TypeBlock.type(ofRow: $0) == type }
  }

  private func recordDifference(ofType number: UInt32) -> Int {
    Int(number) < state.recordDifferences.count ? state.recordDifferences[Int(number)] : 0
  }

  /// A Swift type that the flush has used.
  struct KnownType {
    let type: ObjectIdentifier
    let number: UInt32
    /// Its declared fields, unless all are proven.
    let fields: DeclaredFields?
  }

  /// The entry of a Swift type; assigns a number if the store has not had the type before.
  func known(_ type: any SimpleModel.Type) throws -> KnownType {
    let identity = ObjectIdentifier(type)
    for index in 0..<state.swiftTypes.count where state.swiftTypes[index].type == identity {
      return state.swiftTypes[index]
    }
    let number = try typeNumber(named: directory.name(of: type))
    try checkSchemaVersion(of: type)
    let fields = (type as? any FieldDeclaring.Type)?.declaredFields
    let known = KnownType(
      type: identity, number: number, fields: fields?.areOpen == true ? fields : nil)
    state.swiftTypes.append(known)
    try takeDeclarations(of: type, number)
    try reportMissingIndexes(of: type, number)
    return known
  }

  /// The number of a type; assigned now if the store has not had it before.
  func typeNumber(named name: String) throws -> UInt32 {
    if let row = state.types[name] { return row.number }
    try ModelTypeName.validate(name)
    if let row = try reading({ try $0.typeRow(named: name) }) {
      state.types.add(row, name)
      return row.number
    }
    guard state.counters.nextType <= UInt64(RecordKey.typeMaximum) else {
      throw StoreError(
        .invalidModel, name, "the store holds \(RecordKey.typeMaximum) types already")
    }
    let row = TypeRow(number: UInt32(state.counters.nextType))
    state.counters.nextType += 1
    state.types.add(row, name)
    let key = Array(name.utf8)
    let bytes = row.bytes
    // A type without records is consistent.
    let wasHalfDone = state.isHalfDone
    try put(bytes.span, forKey: key.span, in: tables.types)
    (state.isHalfDone, state.adds) = (wasHalfDone, true)
    return row.number
  }

  func typeName(_ number: UInt32) throws -> String {
    if let name = state.types.name(ofNumber: number) { return name }
    // A number assigned before the flush does not change.
    let isCommitted = number < countersAtStart?.nextType ?? 0
    let name = try reading {
      try directory.name(ofTypeNumber: number, in: $0, isCommitted: isCommitted)
    }
    _ = try typeNumber(named: name)
    return name
  }

  /// Counts an added or removed record.
  func countRecord(ofType number: UInt32, by difference: Int) throws {
    // This reads the type's row with its count, which a delete has not needed so far.
    if recordDifference(ofType: number) == 0 { _ = try typeName(number) }
    while state.recordDifferences.count <= Int(number) { state.recordDifferences.append(0) }
    state.recordDifferences[Int(number)] += difference
  }
}

extension WriteSession {
  /// Applies the declarations of a Swift type that the store keeps: deletion rules, and fallbacks
  /// of indexes.
  func takeDeclarations(of type: any SimpleModel.Type, _ number: UInt32) throws {
    if let rules = directory.deletionRules(of: type) {
      try setDeletionRules(rules, ofTypeNamed: directory.name(of: type))
    }
    try adoptFallbacks(of: type, number)
  }

  /// Whether a newer program than this one has written a type.
  func hasNewerSchema(than type: any SimpleModel.Type, named name: String) throws -> Bool {
    try Int(reading { try $0.schemaVersion(ofTypeNamed: name, state.types[name]) })
      > directory.schemaVersion(of: type, named: name)
  }

  /// Checks whether a newer program has written a type, and records this program's version.
  ///
  /// Once per flush and type.
  ///
  /// - Throws: ``StoreError`` `newerSchema`, if such writes are refused.
  func checkSchemaVersion(of type: any SimpleModel.Type) throws {
    let name = try directory.name(of: type)
    let program = directory.schemaVersion(of: type, named: name)
    let stored = Int(
      try reading { try $0.schemaVersion(ofTypeNamed: name, state.types[name]) })
    if state.counters.isReplicated {
      // The entry carries it to all machines, even if this store alone has it recorded.
      let row = try reading { try $0.schemaRow(ofTypeNamed: name) }
      let shared = row?.position == nil ? 0 : row?.version ?? 0
      if max(1, shared, state.types[name]?.schemaVersion ?? 0) < program {
        state.schemas.append(SchemaNote(typeName: name, version: UInt32(clamping: program)))
      }
    } else if stored < program {
      let key = SchemaRow.key(name)
      let bytes = SchemaRow.bytes(UInt32(clamping: program))
      // This row does not affect the records.
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
