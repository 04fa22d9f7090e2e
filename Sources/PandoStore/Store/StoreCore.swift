import PandoSystem
import FoundationEssentials
import PandoLMDB
import PandoModels

/// What the parts of an open store share: the environment, the tables, the types, the counters.
///
/// Any thread.
final class StoreCore: Sendable {
  let path: String
  let environment: Environment
  let tables: StoreTables
  let directory = TypeDirectory()
  let configuration: ModelStore.Configuration
  /// Names this opening of the store in change sets, so that a process knows its own.
  let author = UUID().uuidString
  /// The identifier that the store gets if it is new.
  let newStoreIdentifier: [UInt8]
  /// Types whose own `merge(_:)` counts, by type name.
  let mergingTypes: [String: any (Model & Codable).Type]
  private let counters = Locked(StoreCounters())

  init(path: String, environment: Environment, configuration: ModelStore.Configuration) throws {
    self.path = path
    self.environment = environment
    self.configuration = configuration
    tables = try StoreTables(environment, create: !configuration.isReadOnly)
    newStoreIdentifier = unsafe withUnsafeBytes(of: UUID().uuid) { unsafe Array($0) }
    var merging: [String: any (Model & Codable).Type] = [:]
    for type in configuration.models {
      let name = try directory.name(of: type)
      if let type = type as? any (Model & Codable).Type { merging[name] = type }
    }
    mergingTypes = merging
  }

  /// Whether a write needs the models themselves beside their records.
  var needsModels: Bool { !mergingTypes.isEmpty || configuration.reportsChildDisagreement }

  func now() -> Date { Date() }

  func read<Result>(_ body: (borrowing StoreReader) throws -> Result) throws -> Result {
    try environment.read { snapshot in
      try body(
        StoreReader(snapshot, tables: tables, directory: directory, pending: nil))
    }
  }

  var currentCounters: StoreCounters { counters.withLock { $0 } }

  func count(_ body: (inout StoreCounters) -> Void) { counters.withLock { body(&$0) } }

  func report(_ event: StoreEvent) {
    count { counters in
      switch event {
      case .slowCommit: counters.slowCommits += 1
      case .mapGrown: counters.mapGrowths += 1
      case .staleReadersCleared(let count): counters.staleReadersCleared += count
      case .failedWrite: counters.failedWrites += 1
      case .conflictingContent: counters.conflictingContents += 1
      case .fieldKept: counters.keptFields += 1
      case .childrenDisagree: break
      }
    }
    configuration.events?(event)
  }
}
