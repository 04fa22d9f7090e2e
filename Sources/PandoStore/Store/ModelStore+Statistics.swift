import PandoLMDB
import FoundationEssentials

/// The size and the state of a store at one moment.
public struct StoreStatistics: Sendable, Hashable, Codable {
  /// The number of the last commit.
  public internal(set) var commitNumber: UInt64 = 0
  /// How many nodes are stored.
  public internal(set) var nodeCount = 0
  /// How many records there are, by type name.
  public internal(set) var recordCounts: [String: Int] = [:]
  /// How many edges the dependency index holds: pairs of a child and a record or collection.
  public internal(set) var edgeCount = 0
  /// How many collections there are.
  public internal(set) var collectionCount = 0
  /// How many commits the change log holds.
  public internal(set) var changeLogCount = 0
  /// The size of the data file, in bytes.
  public internal(set) var fileSizeInBytes = 0
  /// The bytes of the file that hold rows; the rest is free for coming commits.
  public internal(set) var usedSizeInBytes = 0
  /// The size of the memory map, in bytes of address space.
  public internal(set) var mapSizeInBytes = 0
  /// Reader slots in use, of all processes.
  public internal(set) var readerCount = 0
  /// Reader slots there are.
  public internal(set) var readerCountMaximum = 0
  /// How long the oldest active reader of this process has been reading, in seconds; `nil` if none.
  public internal(set) var oldestReaderAgeInSeconds: Double?
  /// The format version of the store.
  public internal(set) var formatVersion = Int(StoreState.formatVersion)
  /// The identifier of the store, as hexadecimal digits.
  public internal(set) var storeIdentifier = ""
}

extension ModelStore {
  /// Measures the store.
  ///
  /// - Returns: Figures of one committed version.
  /// - Throws: `LMDBError` or ``StoreError`` when the store can't be read.
  /// - Complexity: O(*t*) for *t* types.
  public func statistics() throws -> StoreStatistics {
    var statistics = StoreStatistics()
    let environment = try core.environment.statistics()
    statistics.fileSizeInBytes = environment.fileSizeInBytes
    statistics.mapSizeInBytes = environment.mapSizeInBytes
    statistics.usedSizeInBytes = environment.usedSizeInBytes
    statistics.readerCount = environment.readersInUse
    statistics.readerCountMaximum = environment.readersMax
    statistics.oldestReaderAgeInSeconds = environment.oldestReaderAgeInSeconds
    try core.read { reader in
      if let state = try reader.state(path: path) {
        statistics.commitNumber = state.commitNumber
        statistics.storeIdentifier = state.storeIdentifier
          .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      }
      try reader.forEachType { name, row in
        if row.recordCount > 0 { statistics.recordCounts[name] = Int(clamping: row.recordCount) }
      }
      statistics.nodeCount = try reader.snapshot.count(of: core.tables.nodes)
      statistics.edgeCount = try reader.snapshot.count(of: core.tables.parents)
      statistics.collectionCount = try reader.snapshot.count(of: core.tables.collections)
      statistics.changeLogCount = try reader.snapshot.count(of: core.tables.changes)
    }
    return statistics
  }

  /// How often things have happened since the store was opened.
  public var counters: StoreCounters { core.currentCounters }

  /// Writes a copy of one committed version while readers and writers go on.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether to leave free pages out.
  /// - Throws: `LMDBError` when the copy can't be written; ``StoreError`` `damaged` when its pages
  ///   are not sound. liblmdb makes a compact copy of a file with lost pages without a word, and
  ///   that copy is broken, so the pages of every copy are walked.
  /// - Complexity: O(size of the file).
  public func copy(to destination: String, compacting: Bool = false) throws {
    try core.environment.copy(to: destination, compacting: compacting)
    try Self.refuseProblems(
      Self.checkPages(path: destination, .newest, nil), path: destination)
  }
}
