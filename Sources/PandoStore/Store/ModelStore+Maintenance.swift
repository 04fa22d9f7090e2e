package import FoundationEssentials
import PandoLMDB
public import PandoModels
import Synchronization

/// The size and the state of a store at one moment.
///
/// ```swift
/// let statistics = try store.statistics()
/// print(statistics.nodeCount, "nodes;", statistics.usedSizeInBytes, "bytes are in use")
/// ```
public struct StoreStatistics: Sendable, Hashable {
  /// The number of the last commit.
  public internal(set) var commitNumber = CommitNumber.zero
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
  /// The bytes up to the last page that was ever used; free pages among them are used by coming commits.
  public internal(set) var usedSizeInBytes = 0
  /// The size of the memory map, in bytes of address space.
  public internal(set) var mapSizeInBytes = 0
  /// Reader slots in use, of all processes.
  public internal(set) var readerCount = 0
  /// Reader slots there are.
  public internal(set) var readerCountMaximum = 0
  /// How long the oldest active reader of this process has been reading, in seconds; `nil` if none.
  public internal(set) var oldestReaderAgeInSeconds: Double?
  /// The format version that the store is marked with.
  ///
  /// The present one is 6. A store that is written at the level `relaxed` is marked 5 meanwhile, and one whose
  /// writes go through a log 4; both have all of version 6.
  public internal(set) var formatVersion = Int(StoreState.formatVersion)
  package static let presentFormatVersion = Int(StoreState.formatVersion)
  package static let checkpointedFormatVersion = Int(StoreState.checkpointedFormatVersion)
  package static let replicatedFormatVersion = Int(StoreState.replicatedFormatVersion)
  /// The identifier of the store, as hexadecimal digits.
  public internal(set) var storeIdentifier = ""
}

extension ModelStore {
  /// Measures the store.
  ///
  /// - Returns: Figures of one committed version.
  /// - Throws: ``StoreError`` `closed`, `LMDBError` or another ``StoreError`` when the store can't be read.
  /// - Complexity: O(*t*) for *t* types.
  public func statistics() throws -> StoreStatistics {
    var statistics = StoreStatistics()
    try core.whileOpen {
      let environment = try core.environment.statistics()
      statistics.fileSizeInBytes = environment.fileSizeInBytes
      statistics.mapSizeInBytes = environment.mapSizeInBytes
      statistics.usedSizeInBytes = environment.usedSizeInBytes
      statistics.readerCount = environment.readersInUse
      statistics.readerCountMaximum = environment.readersMax
      statistics.oldestReaderAgeInSeconds = environment.oldestReaderAgeInSeconds
      try core.read { reader in
        if let state = try reader.state(path: path) {
          statistics.commitNumber = try reader.number(state.commitNumber)
          statistics.formatVersion = Int(state.storedFormatVersion)
          statistics.changeLogCount = Int(clamping: state.commitNumber + 1 - state.oldestChange)
          statistics.storeIdentifier = state.storeIdentifier
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        try reader.forEachType { name, row in
          if row.recordCount > 0 { statistics.recordCounts[name] = Int(clamping: row.recordCount) }
        }
        statistics.nodeCount = try reader.snapshot.count(of: core.tables.nodes)
        statistics.edgeCount = try reader.snapshot.count(of: core.tables.parents)
        statistics.collectionCount = try reader.snapshot.count(of: core.tables.collections)
      }
    }
    return statistics
  }

  /// How often things have happened since the store was opened.
  public var counters: StoreCounters { core.currentCounters }

  /// Lists who reads the store now, in all processes, in no order.
  ///
  /// A version that somebody reads keeps its pages from being used again: what makes a file grow is seen here.
  ///
  /// - Returns: The process of each reader, and how many commits of the file its version is behind.
  /// - Throws: ``StoreError`` `closed`; `LMDBError` when the store can't be read.
  /// - Complexity: O(*r*) for *r* reader slots.
  public func openReaders() throws -> [(processID: Int, commitsBehind: Int)] {
    var found: [(processID: Int, commitsBehind: Int)] = []
    try core.whileOpen {
      let last = try core.environment.statistics().lastTransactionID
      for reader in try core.environment.openReaders() {
        let behind = last > reader.transactionID ? last - reader.transactionID : 0
        found.append((reader.processID, Int(clamping: behind)))
      }
    }
    return found
  }

  /// How many writes of this process wait for their commit.
  public var queuedWriteCount: Int { writer?.queuedCount ?? 0 }

  /// How many threads of this process wait to read, because all reader slots are taken or the map grows.
  public var waitingReadCount: Int { core.environment.waitingReadCount }

  /// Counts commits of other processes that are shown.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - date: When the newest was made; `nil` if that is not known.
  package func didShowOthersCommits(_ count: Int, newest date: Date?) {
    let delay = date.map { core.now().timeIntervalSince($0) }
    core.count { counters in
      counters.othersCommits += count
      if let delay { counters.lastDelayOfOthers = .seconds(max(delay, 0)) }
    }
  }

  /// Reports that all that is live was read again.
  ///
  /// - Parameter count: How many commits it was behind.
  package func didReload(behind count: Int) { core.report(.reloaded(commitCount: count)) }

  /// Writes a copy of one committed version while readers and writers go on.
  ///
  /// The copy gets its name when its pages have been checked. A copy that fails leaves nothing.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether to leave free pages out.
  /// - Throws: `LMDBError` when the copy can't be written, with code `fileExists` when a store is there or
  ///   another copy is being made there, with code `incompatibleTable` when it is to
  ///   be compact and the file has lost pages (`PageReport`); ``StoreError`` `damaged` when its pages
  ///   are not sound: the pages of every copy are walked.
  /// - Complexity: O(size of the file).
  public func copy(to destination: String, compacting: Bool = false) throws {
    _ = try copy(to: destination, compacting: compacting, progress: nil)
  }
}

extension ModelStore {
  /// Checks the whole store while others read and write.
  ///
  /// First every page of the file, read without the memory map; then, if the pages are sound, that
  /// every record decodes and its checksum holds, that records and dependency index agree in both
  /// directions, that no node contains itself, and that collections, counts and change log are whole.
  ///
  /// - Parameter progress: Told how far the check has come, about once for each thousand pages and
  ///   each ten thousand rows; an error that it throws ends the check.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: `LMDBError` or `PageWalkError` when the file can't be read at all; what `progress` throws.
  /// - Complexity: Reads the file twice.
  public func verify(
    progress: ((VerificationProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    for _ in 1..<Self.verificationAttemptMaximum {
      do {
        return try verifyNewest(progress)
      } catch let error as PageWalkError where error.code == .changedMeanwhile {
        continue
      }
    }
    return try verifyNewest(progress)
  }

  /// How often a version is tried whose meta page two commits overwrite before it has been read.
  ///
  /// The snapshot keeps its pages but not its meta page, and that is read at once: once is seldom
  /// needed, twice hardly ever.
  static let verificationAttemptMaximum = 64

  private func verifyNewest(
    _ progress: ((VerificationProgress) throws -> Void)?
  ) throws -> VerificationReport {
    var report = VerificationReport()
    try core.whileOpen {
      try core.read { reader in
        let version = PageWalker.Version.transaction(reader.snapshot.transactionID)
        // The file that is open: another one may lie at the path by now.
        report = try StoreCheck.pages(core.environment.pageWalker(), version, progress)
        guard report.isClean else { return }
        let pageCount = report.pageCount
        report = try StoreCheck.report(on: reader, path: path, progress: progress)
        report.pageCount = pageCount
      }
    }
    return report
  }

  /// Checks a store that may be too damaged to be opened.
  ///
  /// The pages are walked before anything maps the file; only if they are sound is it opened, for
  /// reading, and the rest checked.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - assumingNoWriter: Whether a file system that is mounted read-only may be read, see
  ///     ``StoreConfiguration/assumingNoWriter``.
  ///   - progress: Told how far the check has come; an error that it throws ends the check.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: ``StoreError`` when the sound pages hold no store; `LMDBError` or `PageWalkError`
  ///   when the file can't be read at all; what `progress` throws.
  /// - Complexity: As `verify(progress:)`, and reads each page once before.
  public static func verify(
    path: String, assumingNoWriter: Bool = false,
    progress: ((VerificationProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    var engine = Environment.Configuration()
    (engine.isReadOnly, engine.assumingNoWriter) = (true, assumingNoWriter)
    try Environment.settleCheckpoint(path: path, engine)
    do {
      let report = try StoreCheck.pages(ofStoreAt: path, progress)
      guard report.isClean else { return report }
    } catch let error as PageWalkError where error.code == .changedMeanwhile {
      // Others write, who have mapped it; an open store walks a version that nobody takes away.
    }
    var configuration = Configuration()
    (configuration.isReadOnly, configuration.assumingNoWriter) = (true, assumingNoWriter)
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try store.verify(progress: progress)
  }
}

extension ModelStore {
  /// Fills an empty store from the lines of a dump, in one transaction.
  ///
  /// Afterwards the store is equal to the one that was dumped, its commit number included.
  ///
  /// - Parameter nextLine: Returns one line after another, then `nil`. It is called on the writer
  ///   thread while the caller waits.
  /// - Returns: How much was loaded.
  /// - Throws: ``StoreError`` `invalidDump` with the number of the line; then nothing was loaded.
  ///   What `nextLine` throws. ``StoreError`` `engine` when the map had to grow meanwhile or a write
  ///   in the same flush failed: load again from the first line.
  /// - Complexity: O(*n* log *n*); lines are taken one at a time.
  @discardableResult
  public func load(nextLine: @Sendable () throws -> String?) throws -> LoadReport {
    let attempts = Atomic(0)
    return try write { transaction in
      guard attempts.add(1, ordering: .relaxed).oldValue == 0 else {
        throw StoreError(
          .engine, path,
          "the load had to begin again, because the memory map grew or a write beside it failed; "
            + "nothing was loaded, load again from the first line")
      }
      var load = StoreLoad(transaction.session)
      return try load.run(nextLine)
    }
  }
}

extension ModelStore {
  /// Writes one committed version as lines of JSON from which ``load(nextLine:)`` makes an equal store.
  ///
  /// Nothing is lost: identifiers, types with their schema versions and indexes, all records, collections,
  /// properties, which nodes were asked for. The change log is not part of it. Equal stores have
  /// equal dumps.
  ///
  /// - Parameter line: Gets each line, without a line break.
  /// - Throws: What `line` throws; ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*); lines are made one at a time.
  public func dump(_ line: (String) throws -> Void) throws {
    try dump(counting: { text, _, _ in try line(text) })
  }
}

extension ModelStore {
  /// Lists the records of a type that can't be read as it.
  ///
  /// - Parameters:
  ///   - type: The type, by whose own records the nodes are found.
  ///   - limit: How many at most.
  /// - Returns: The records, in the order in which the store first saw their nodes.
  /// - Throws: ``StoreError`` or `LMDBError` when the store can't be read.
  /// - Complexity: O(*n*) for *n* records of the type, all of which are decoded.
  public func undecodable<M: SimpleModel & Decodable>(
    _ type: M.Type, limit: Int = .max
  ) throws -> [UndecodableRecord] { try read { try $0.undecodable(type, limit: limit) } }
}

extension ModelStore {
  /// Sets the one closure that is called for each query that no index has answered.
  ///
  /// Told are scans of types with 1 000 records or more that had a filter or an order, with the number of
  /// records that they have looked at. Queries for all records are not told, and not what a light type costs
  /// of whose nodes other types have the records.
  ///
  /// - Parameter handler: Called on the thread that has asked, when the records have been looked at; it
  ///   must not block. `nil` removes it.
  public func setScanHandler(_ handler: (@Sendable (QueryScan) -> Void)?) {
    core.directory.catalog.setScanHandler(handler)
  }
}
