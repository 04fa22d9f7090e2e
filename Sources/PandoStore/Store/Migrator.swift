import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

/// Runs the due migrations of a store, all in one transaction.
struct Migrator {
  /// How many records are migrated between two calls of the progress closure.
  private static let recordsPerReport = 1000

  private let core: StoreCore

  init(_ core: StoreCore) { self.core = core }

  func run() throws {
    let migrations = try core.read { try due(in: $0) }
    guard !migrations.isEmpty else { return }
    guard !core.configuration.isReadOnly else { return try refuse(migrations) }
    let state = try core.read { try $0.state(path: core.path) }
    if core.configuration.migratesThroughLog {
      // The migrations run in an entry, once the store has all entries of the log.
      if let state, state.isReplicated || state.commitNumber == 0 { return }
    } else if state?.isReplicated == true {
      throw StoreError(
        .replicated, core.path,
        "a replicated store is migrated by a program that opens it with its log")
    }
    // Held until the migration is committed.
    var lock: MigrationLock?
    defer { lock?.release() }
    try core.environment.write { transaction in
      try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
        let session = try unsafe WriteSession(transaction, core: core)
        session.beginWrite()
        // Checked again: another process may have run them while this one waited.
        let migrations = try session.reading { try due(in: $0) }
        if !migrations.isEmpty, core.environment.folder != nil {
          lock = MigrationLock(takenIn: core.path)
        }
        for migration in migrations { try run(migration, session) }
        _ = try session.endWrite(context: nil)
        try session.endFlush()
      }
    }
  }

  /// Whether the store has due migrations.
  var hasDue: Bool { get throws { try !core.read { try due(in: $0) }.isEmpty } }

  /// Runs the due migrations in a write of a replicated store; other stores get their effects.
  func runDue(_ session: WriteSession) throws {
    for migration in try session.reading({ try due(in: $0) }) {
      _ = try session.typeNumber(named: migration.typeName)
      let before = session.state.types[migration.typeName]?.schemaVersion ?? 0
      try run(migration, session)
      session.state.schemas.append(
        SchemaNote(
          typeName: migration.typeName, version: UInt32(clamping: migration.version),
          migratedFrom: before))
    }
  }

  /// Refuses a read-only store whose records need a migration.
  private func refuse(_ migrations: [Migration]) throws {
    for migration in migrations {
      let count = try core.read { try $0.typeRow(named: migration.typeName)?.recordCount ?? 0 }
      guard count == 0 else {
        throw StoreError(
          .migrationFailed, migration.typeName,
          "needs a migration to version \(migration.version); open the store for writing once")
      }
    }
  }

  /// The migrations whose version the store has not reached, sorted by version.
  private func due(in reader: borrowing StoreReader) throws -> [Migration] {
    var versions: [String: UInt32] = [:]
    try reader.forEachType { name, row in versions[name] = row.schemaVersion }
    return core.configuration.migrations.ordered { $0.version < $1.version }
      .filter { $0.version > Int(versions[$0.typeName] ?? 0) }
  }

  private func run(_ migration: Migration, _ session: WriteSession) throws {
    let number = try session.typeNumber(named: migration.typeName)
    var keys: [RecordKey] = []
    try session.reading { reader in
      var nodes = try reader.nodes(ofType: number)
      while let node = try nodes.next(reader) { keys.append(RecordKey(type: number, node: node)) }
    }
    for (index, key) in keys.enumerated() {
      try migrate(key, migration, session)
      if (index + 1) % Self.recordsPerReport == 0 || index + 1 == keys.count {
        core.configuration.migrationProgress?(
          StoreProgress(
            .migration(typeName: migration.typeName, version: migration.version), index + 1,
            of: keys.count))
      }
    }
    session.state.types.change(migration.typeName) {
      $0.schemaVersion = UInt32(clamping: migration.version)
    }
  }

  private func migrate(_ key: RecordKey, _ migration: Migration, _ session: WriteSession) throws {
    let old = try session.reading { reader in try reader.treeNode(key, depth: 0) }
    let name = "the migration of \(migration.typeName) to version \(migration.version)"
    var new = old
    do {
      try migration.transform(&new)
      guard new.identifier.hasSameBytes(as: old.identifier), new.typeName == old.typeName else {
        throw StoreError(
          .migrationFailed, old.identifier,
          "\(name) changed the identifier or the type; it may change fields only")
      }
      if new == old { return }
      try session.collecting { collector in
        var encoder = TreeEncoder(sink: collector)
        _ = try encoder.encode(new)
        try unsafe session.store(collector.pending, mayCloseCycle: true)
      }
      try session.refuseDepth()
    } catch let error as LMDBError {
      throw error
    } catch let error as StoreError where error.code == .migrationFailed {
      throw error
    } catch {
      throw StoreError(
        .migrationFailed, old.identifier, "\(name) failed; the store is as it was",
        underlying: error)
    }
  }
}
