import FoundationEssentials
import PandoLMDB
import PandoModels
import PandoSystem

extension ModelStore {
  /// How long a read-only opening waits for another process that creates the store.
  private static let creationPatience = Duration.seconds(1)

  /// Opens the environment, checks the format, and migrates old records.
  ///
  /// A store is created by a few commits. A concurrent opening for writing makes the missing ones;
  /// a read-only opening waits.
  static func open(path: String, configuration: Configuration) throws -> StoreCore {
    guard configuration.isReadOnly else {
      return try openOnce(path: path, configuration: configuration)
    }
    let deadline = ContinuousClock.now + creationPatience
    while true {
      do {
        return try openOnce(path: path, configuration: configuration)
      } catch  where isOfUnfinishedStore(error, path: path) {
        guard ContinuousClock.now >= deadline else {
          usleep(2_000)
          continue
        }
        guard let error = error as? LMDBError, error.code == .notFound else { throw error }
        throw StoreError(
          .notAStore, path,
          "lacks tables or its state row: it is no Pando store, or one whose creation was cut "
            + "short, which opening it for writing completes")
      }
    }
  }

  private static let emptyFile =
    "is an empty LMDB file: a store whose creation was cut short, which opening it for writing completes, or none"

  /// Whether an error may come from a store that another process is creating.
  private static func isOfUnfinishedStore(_ error: any Error, path: String) -> Bool {
    if let error = error as? StoreError { return error.reason == emptyFile }
    guard let error = error as? LMDBError else { return false }
    if error.code == .notFound { return true }
    guard error.code == .truncatedFile else { return false }
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/data.mdb")
    return attributes?[.size] as? Int == 0
  }

  /// Opens an environment, with a smaller map if the address space is limited (`ulimit -v`); the
  /// map grows when it is full.
  private static func withFittingMap(
    _ configuration: Environment.Configuration,
    _ open: (Environment.Configuration) throws -> Environment
  ) throws -> Environment {
    var configuration = configuration
    while true {
      do {
        return try open(configuration)
      } catch let error as LMDBError
        where error.code == .outOfMemory && configuration.mapSizeInBytes > mapSizeInBytesMinimum
      {
        configuration.mapSizeInBytes /= 4
      }
    }
  }

  /// The smallest map that is tried.
  private static let mapSizeInBytesMinimum = 64 << 20

  private static func openOnce(path: String, configuration: Configuration) throws -> StoreCore {
    let events = EventRelay()
    let engine = engineConfiguration(configuration, events)
    var isVerified = true
    if configuration.verifying != .none {
      try Environment.settleCheckpoint(path: path, engine)
      isVerified = try verifyPages(path: path)
    }
    let environment = try withFittingMap(engine) { engine in
      try Environment(path: path, configuration: engine)
    }
    return try makeCore(environment, configuration, events, isVerified: isVerified)
  }

  private static func engineConfiguration(
    _ configuration: Configuration, _ events: EventRelay
  ) -> Environment.Configuration {
    var engine = Environment.Configuration()
    engine.mapSizeInBytes = configuration.mapSizeInBytes
    engine.maximumMapSizeInBytes = configuration.maximumMapSizeInBytes
    engine.maximumReaders = configuration.maximumReaders
    engine.readerTimeoutInSeconds = configuration.readerTimeoutInSeconds
    engine.durability = configuration.durability
    engine.isReadOnly = configuration.isReadOnly
    engine.assumingNoWriter = configuration.assumingNoWriter
    engine.onEvent = { event in events.receive(event) }
    return engine
  }

  /// Checks the format of an open environment and migrates its records; closes the environment if that fails.
  private static func makeCore(
    _ environment: Environment, _ configuration: Configuration, _ events: EventRelay,
    isVerified: Bool
  ) throws -> StoreCore {
    let path = environment.path
    do {
      try refuseForeignFile(environment, path: path)
      let core = try StoreCore(
        path: path, environment: environment, configuration: configuration)
      events.connect(core)
      try checkFormat(core)
      try core.noteIdentity()
      try core.settlePowerCuts()
      try raiseRetention(core)
      try Migrator(core).run()
      if !isVerified { try verifyPages(of: core) }
      if configuration.verifying == .everything {
        let report = try core.read { try StoreCheck.report(on: $0, path: path) }
        try refuseProblems(report, path: path)
      }
      return core
    } catch {
      environment.close()
      throw error
    }
  }

  /// Opens an environment in memory, empty or with a copy of a store.
  static func openInMemory(
    copyOf source: ModelStore?, configuration: Configuration
  ) throws -> StoreCore {
    guard !configuration.isReadOnly else {
      throw StoreError(
        .readOnly, Environment.memoryName,
        "no other process can write to a store in memory, so it would stay as it is; open it without isReadOnly"
      )
    }
    var configuration = configuration
    configuration.durability = .unsynchronized
    configuration.followsOtherProcesses = false
    let events = EventRelay()
    let engine = engineConfiguration(configuration, events)
    let environment = try withFittingMap(engine) { engine in
      if let source { return try source.copyToMemory(engine) }
      return try Environment.inMemory(configuration: engine)
    }
    // The pages of a copy have been walked.
    return try makeCore(environment, configuration, events, isVerified: true)
  }
}

extension ModelStore {
  /// Walks every page of the file, without the memory map, before any other access.
  ///
  /// - Returns: `false` if other processes, which have mapped the file, write all the time.
  private static func verifyPages(path: String) throws -> Bool {
    guard !Environment.isUnmade(path: path) else { return true }  // a new store
    do {
      try refuseProblems(StoreCheck.pages(ofStoreAt: path), path: path)
      return true
    } catch let error as LMDBError where error.code == .changedMeanwhile {
      return false
    }
  }

  /// Walks every page of a version that a reader keeps.
  private static func verifyPages(of core: StoreCore) throws {
    for attempt in 1...verificationAttemptMaximum {
      do {
        let report = try core.read { reader in
          let version = PageWalker.Version.transaction(reader.snapshot.transactionID)
          return try StoreCheck.pages(core.environment.pageWalker(), version, nil)
        }
        return try refuseProblems(report, path: core.path)
      } catch let error as LMDBError
        where error.code == .changedMeanwhile && attempt < verificationAttemptMaximum
      {
        continue
      }
    }
  }

  static func refuseProblems(_ report: VerificationReport, path: String) throws {
    guard let problem = report.problems.first else { return }
    throw StoreError(
      .damaged, path,
      "\(problem) (\(report.problems.count) problems in all); restore a copy or load a dump")
  }

  /// Refuses a file that is not a Pando store of this format, before writing to it.
  private static func refuseForeignFile(_ environment: Environment, path: String) throws {
    let foreign = StoreError(
      .notAStore, path, "is an LMDB file with rows of its own and no Pando store")
    do {
      let names = try tableNames(environment)
      if names.isEmpty {
        guard environment.configuration.isReadOnly else { return }
        throw StoreError(.notAStore, path, emptyFile)
      }
      if try hasState(environment, names, path: path) { return }
      // A process that ended during the creation of a store leaves some of its tables, all empty.
      for name in names {
        let name = String(decoding: name, as: UTF8.self)
        guard StoreTables.names.contains(name) else { throw foreign }
        let table = try environment.rawTable(name, create: false)
        guard try environment.read({ try $0.count(of: table) }) > 0 else { continue }
        // Another process may have completed the store since the names were read.
        let tables = try tableNames(environment)
        guard try hasState(environment, tables, path: path) else { throw foreign }
        return
      }
    } catch let error as LMDBError where error.code == .incompatibleTable {
      throw foreign
    }
  }

  private static func tableNames(_ environment: Environment) throws -> Set<[UInt8]> {
    let unnamed = try environment.rawTable(nil, create: false)
    return try environment.read { snapshot in
      var names: Set<[UInt8]> = []
      try snapshot.scan(unnamed) { key, _ in
        names.insert(Array(copying: key))
        return true
      }
      return names
    }
  }

  /// Whether there is a state row; throws for another format.
  private static func hasState(
    _ environment: Environment, _ names: Set<[UInt8]>, path: String
  ) throws -> Bool {
    guard names.contains(Array("meta".utf8)) else { return false }
    let meta = try environment.rawTable("meta", create: false)
    let key = StoreState.key
    return try environment.read { snapshot in
      guard let bytes = try snapshot.bytes(forKey: key.span, in: meta) else { return false }
      _ = try StoreState(bytes, path: path)
      return true
    }
  }

  /// Reads the state row, or writes the first one into a new store.
  private static func checkFormat(_ core: StoreCore) throws {
    let state = try core.read { try $0.state(path: core.path) }
    if state != nil { return }
    guard !core.configuration.isReadOnly else {
      throw LMDBError(.notFound, function: "mdb_get", detail: "the state row")
    }
    let key = StoreState.key
    try core.environment.write { transaction in
      let bytes = StoreState(storeIdentifier: core.newStoreIdentifier).bytes
      // Another process may have been first.
      let isNew = try transaction.insert(
        bytes.span, forKey: key.span, in: core.tables.meta)
      guard isNew else { return }
      let retention = core.configuration.retention.bytes
      let name = ChangeLogRetention.key
      try transaction.put(retention.span, forKey: name.span, in: core.tables.meta)
    }
  }

  /// Raises the retention of the change log to that of this configuration.
  private static func raiseRetention(_ core: StoreCore) throws {
    let configuration = core.configuration
    guard configuration.raisesRetention, !configuration.isReadOnly else { return }
    let wanted = configuration.retention
    let known = try core.read { try $0.retention() }
    guard known.raised(to: wanted) != known else { return }
    try core.changeRetention { $0 = $0.raised(to: wanted) }
  }
}
