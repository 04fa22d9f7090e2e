package import FoundationEssentials
import PandoLMDB
public import PandoModels
import Synchronization

/// Sizes and other figures of a store at one moment.
///
/// ```swift
/// let statistics = try store.statistics()
/// print(statistics.nodeCount, "nodes;", statistics.usedSizeInBytes, "bytes are in use")
/// ```
public struct StoreStatistics: Sendable, Hashable, Codable {
  /// The number of the last commit.
  public internal(set) var commitNumber = CommitNumber.zero
  /// The number of nodes.
  public internal(set) var nodeCount = 0
  /// The number of records, by type name.
  public internal(set) var recordCounts: [String: Int] = [:]
  /// The number of edges in the dependency index: pairs of a child and a record or collection.
  public internal(set) var edgeCount = 0
  /// The number of collections.
  public internal(set) var collectionCount = 0
  /// The number of commits in the change log.
  public internal(set) var changeLogCount = 0
  /// The size of the data file, in bytes.
  public internal(set) var fileSizeInBytes = 0
  /// The bytes up to the last page ever used, including free pages, which later commits use.
  public internal(set) var usedSizeInBytes = 0
  /// The bytes of free pages, which later commits use; part of ``usedSizeInBytes``.
  ///
  /// A commit uses a free page as soon as no open read sees the version that had it.
  public internal(set) var freeSizeInBytes = 0
  /// The size of the memory map, in bytes of address space.
  public internal(set) var mapSizeInBytes = 0
  /// The number of reader slots in use by all processes.
  public internal(set) var readerCount = 0
  /// The number of reader slots.
  public internal(set) var readerCountMaximum = 0
  /// The age of the oldest open read of this process, in seconds; `nil` if there is none.
  public internal(set) var oldestReaderAgeInSeconds: Double?
  /// The process whose write runs now, by its number; other writes wait for it.
  ///
  /// `nil` if no write runs, and if processes of several PID namespaces (containers) have the store open.
  public internal(set) var writerProcessID: Int?
  /// The format version in the store.
  ///
  /// The present one is 6. A store written with `relaxed` has 5 during that time, and one with
  /// writes through a log has 4; both have the rows of version 6.
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
  /// - Throws: ``StoreError`` (such as `closed`) or `LMDBError` if the store can't be read.
  /// - Complexity: O(*t* + *c*) for *t* types and *c* commits whose freed pages have not all been used again.
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
      statistics.writerProcessID = environment.writerProcessID
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
        statistics.freeSizeInBytes = try reader.snapshot.freeSizeInBytes()
        statistics.nodeCount = try reader.snapshot.count(of: core.tables.nodes)
        statistics.edgeCount = try reader.snapshot.count(of: core.tables.parents)
        statistics.collectionCount = try reader.snapshot.count(of: core.tables.collections)
      }
    }
    return statistics
  }

  /// Counts of events since the store was opened.
  public var counters: StoreCounters { core.currentCounters }

  /// Lists the open reads of all processes, unordered.
  ///
  /// An open read keeps the pages of its version from being reused, which can make the file grow.
  ///
  /// - Returns: The process of each reader, and the number of commits since its version.
  /// - Throws: ``StoreError`` `closed`; `LMDBError` if the store can't be read.
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

  /// The number of writes of this process that wait for their commit.
  public var queuedWriteCount: Int { writer?.queuedCount ?? 0 }

  /// The number of threads of this process that wait to read, for a slot or for growth of the map.
  public var waitingReadCount: Int { core.environment.waitingReadCount }

  /// Counts displayed commits of other processes.
  ///
  /// - Parameters:
  ///   - count: Their number.
  ///   - date: The date of the newest; `nil` if unknown.
  package func didShowOthersCommits(_ count: Int, newest date: Date?) {
    let delay = date.map { core.now().timeIntervalSince($0) }
    core.count { counters in
      counters.othersCommits += count
      if let delay { counters.lastDelayOfOthers = .seconds(max(delay, 0)) }
    }
  }

  /// Reports that all live objects were read again.
  ///
  /// - Parameter count: The number of missed commits.
  package func didReload(behind count: Int) { core.report(.reloaded(commitCount: count)) }

  /// Writes a copy of one committed version while readers and writers continue.
  ///
  /// Pando checks the pages of the copy, then gives the copy its name. It removes a failed copy.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether to omit free pages.
  /// - Throws: `LMDBError` if the copy can't be written: with code `fileExists` if a store exists
  ///   there or another copy is under way; with code `incompatibleTable` if a compact copy finds
  ///   lost pages (`PageReport`). ``StoreError`` `damaged` if the check of its pages fails.
  /// - Complexity: O(size of the file).
  public func copy(to destination: String, compacting: Bool = false) throws {
    _ = try copy(to: destination, compacting: compacting, progress: nil)
  }
}

extension ModelStore {
  /// Checks the whole store while others read and write.
  ///
  /// It first reads every page of the file, without the memory map. If these are sound, it checks
  /// records and checksums, records against the dependency index, cycles, collections, counts and
  /// the change log.
  ///
  /// - Parameter progress: Called about once per thousand pages and ten thousand rows; an error that it
  ///   throws ends the check.
  /// - Returns: The report; nothing is repaired.
  /// - Throws: `LMDBError` if the file can't be read; the error of `progress`.
  /// - Complexity: Reads the file twice.
  public func verify(
    progress: ((StoreProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    for _ in 1..<Self.verificationAttemptMaximum {
      do {
        return try verifyNewest(progress)
      } catch let error as LMDBError where error.code == .changedMeanwhile {
        continue
      }
    }
    return try verifyNewest(progress)
  }

  /// How often a version is tried if two commits overwrite its meta page before it was read.
  ///
  /// The snapshot keeps its pages but not its meta page, which is read at once, so a second attempt
  /// is rare.
  static let verificationAttemptMaximum = 64

  private func verifyNewest(
    _ progress: ((StoreProgress) throws -> Void)?
  ) throws -> VerificationReport {
    var report = VerificationReport()
    try core.whileOpen {
      try core.read { reader in
        let version = PageWalker.Version.transaction(reader.snapshot.transactionID)
        // The open file: its path may have another one by now.
        report = try StoreCheck.pages(core.environment.pageWalker(), version, progress)
        guard report.isClean else { return }
        let pageCount = report.pageCount
        report = try StoreCheck.report(on: reader, path: path, progress: progress)
        report.pageCount = pageCount
      }
    }
    return report
  }

  /// Checks a store that may be too damaged to open.
  ///
  /// Pando checks the pages before it maps the file. If they are sound, it opens the store read-only and checks the
  /// rest.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - assumingNoWriter: Whether to read a store on a read-only mount; see
  ///     ``StoreConfiguration/assumingNoWriter``.
  ///   - progress: Called with the progress of the check; an error that it throws ends the check.
  /// - Returns: The report; nothing is repaired.
  /// - Throws: ``StoreError`` if the sound pages are not a store; `LMDBError` if
  ///   the file can't be read; the error of `progress`.
  /// - Complexity: As `verify(progress:)`, after reading each page once.
  public static func verify(
    path: String, assumingNoWriter: Bool = false,
    progress: ((StoreProgress) throws -> Void)? = nil
  ) throws -> VerificationReport {
    var engine = Environment.Configuration()
    (engine.isReadOnly, engine.assumingNoWriter) = (true, assumingNoWriter)
    try Environment.settleCheckpoint(path: path, engine)
    do {
      let report = try StoreCheck.pages(ofStoreAt: path, progress)
      guard report.isClean else { return report }
    } catch let error as LMDBError where error.code == .changedMeanwhile {
      // Other processes write to the file; an open store walks a protected version.
    }
    var configuration = Configuration()
    (configuration.isReadOnly, configuration.assumingNoWriter) = (true, assumingNoWriter)
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try store.verify(progress: progress)
  }
}

extension ModelStore {
  /// Fills an empty store with the lines of a dump, in one transaction.
  ///
  /// Afterwards the store equals the dumped one, including its commit number.
  ///
  /// ```swift
  /// let loaded = try store.load { readLine() }
  /// print(loaded.nodeCount, "nodes and", loaded.collectionCount, "lists")
  /// ```
  ///
  /// - Parameter nextLine: Returns one line after the other, then `nil`. The writing thread calls
  ///   it while the caller waits.
  /// - Returns: The number of loaded nodes and collections.
  /// - Throws: ``StoreError`` `invalidDump` with the number of the line; then nothing was loaded.
  ///   The error of `nextLine`. ``StoreError`` `engine` if the map grew meanwhile or a write in the
  ///   same flush failed: load again from the first line.
  /// - Complexity: O(*n* log *n*); lines are processed one at a time.
  @discardableResult
  public func load(nextLine: @Sendable () throws -> String?) throws -> (
    nodeCount: Int, collectionCount: Int
  ) {
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
  /// Writes one committed version as lines of JSON; ``load(nextLine:)`` makes an equal store.
  ///
  /// The dump contains identifiers, types with schema versions and indexes, all records, collections, properties, and
  /// which nodes were ever written as the root of a tree or put into a list. It does not contain the change log. Equal
  /// stores have equal dumps.
  ///
  /// - Parameter line: Receives each line, without a line break.
  /// - Throws: The error of `line`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*n*); lines are made one at a time.
  public func dump(_ line: (String) throws -> Void) throws {
    try dump(counting: { text, _, _ in try line(text) })
  }
}

extension ModelStore {
  /// Lists the records of a type that can't be decoded.
  ///
  /// - Parameters:
  ///   - type: The type; only nodes with a record of it are read.
  ///   - limit: The largest number of records to return.
  /// - Returns: The records, in the order in which their nodes were first stored.
  /// - Throws: ``StoreError`` or `LMDBError` if the store can't be read.
  /// - Complexity: O(*n*) for *n* records of the type, all of which are decoded.
  public func undecodable<M: SimpleModel & Decodable>(
    _ type: M.Type, limit: Int = .max
  ) throws -> [UndecodableRecord] { try read { try $0.undecodable(type, limit: limit) } }
}

extension ModelStore {
  /// Sets the closure that is called for each query without a usable index.
  ///
  /// It is called for a query with a filter or an order that scans a type of 1 000 records or more. It is not called
  /// for a query of all records, and it does not count nodes that have only records of other types.
  ///
  /// - Parameter handler: Called on the querying thread after the scan; must not block. `nil`
  ///   removes it.
  public func setScanHandler(_ handler: (@Sendable (QueryScan) -> Void)?) {
    core.directory.catalog.setScanHandler(handler)
  }
}
