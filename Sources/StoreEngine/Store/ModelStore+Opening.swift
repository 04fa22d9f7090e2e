import Foundation
import LMDB
import ModelCore

extension ModelStore {
  /// Opens the environment, checks the format, and brings old records up to date.
  static func open(path: String, configuration: Configuration) throws -> StoreCore {
    if configuration.verifying != .none { try verifyPages(path: path) }
    var engine = Environment.Configuration()
    engine.mapSizeInBytes = configuration.mapSizeInBytes
    engine.maximumMapSizeInBytes = configuration.maximumMapSizeInBytes
    engine.maximumReaders = configuration.maximumReaders
    engine.durability = configuration.durability
    engine.isReadOnly = configuration.isReadOnly
    let events = EventRelay()
    engine.onEvent = { event in events.receive(event) }
    let environment = try Environment(path: path, configuration: engine)
    do {
      try refuseForeignFile(environment, path: path)
      let core = try StoreCore(
        path: path, environment: environment, configuration: configuration)
      events.connect(core)
      try checkFormat(core)
      try Migrator(core).run()
      if configuration.verifying == .everything {
        let report = try core.read { try StoreCheck(core).run($0, progress: nil) }
        try refuseProblems(report, path: path)
      }
      return core
    } catch {
      environment.close()
      throw error
    }
  }
}

extension ModelStore {
  /// Walks every page of the file, without the memory map, before anything else touches it.
  private static func verifyPages(path: String) throws {
    let file = "\(path)/data.mdb"
    guard FileManager.default.fileExists(atPath: file) else { return }  // a new store
    try refuseProblems(checkPages(path: path, .newest, nil), path: path)
  }

  static func refuseProblems(_ report: VerificationReport, path: String) throws {
    guard let problem = report.problems.first else { return }
    throw StoreError(
      .damaged, path,
      "\(problem) (\(report.problems.count) problems in all); restore a copy or load a dump")
  }

  /// Refuses an LMDB file in which somebody else keeps tables, before ours are made in it.
  private static func refuseForeignFile(_ environment: Environment, path: String) throws {
    let unnamed = try environment.rawTable(nil, create: false)
    var names: [String] = []
    try environment.read { snapshot in
      try snapshot.scan(unnamed) { key, _ in
        names.append(try StoreReader.text(key, "the name of a table"))
        return true
      }
    }
    if !names.isEmpty, !names.contains("meta") {
      throw StoreError(
        .notAStore, path, "is an LMDB file with tables of its own and no Pando store")
    }
  }

  /// Reads the state row, or writes the first one into a new store.
  private static func checkFormat(_ core: StoreCore) throws {
    let state = try core.read { try $0.state(path: core.path) }
    if state != nil { return }
    guard !core.configuration.isReadOnly else {
      throw StoreError(.notAStore, core.path, "has no state row: it is no Pando store")
    }
    let isEmpty = try core.environment.read { snapshot in
      try snapshot.count(of: core.tables.meta) == 0 && snapshot.count(of: core.tables.nodes) == 0
    }
    guard isEmpty else {
      throw StoreError(.notAStore, core.path, "has tables but no state row: it is no Pando store")
    }
    let key = StoreState.key
    try core.environment.write { transaction in
      let bytes = StoreState(storeIdentifier: core.newStoreIdentifier).bytes
      // Another process may have been first.
      _ = try transaction.insert(
        bytes.span, forKey: key.span, in: core.tables.meta)
    }
  }
}
