import PandoLMDB
import PandoStore

/// Repairs the relation of a log and a store that can't follow it any more.
///
/// No process may have the store open, unless a function says otherwise.
enum LogRepair {
  /// Continues a log from the contents of a store.
  ///
  /// The call appends a message: all later messages were made from a copy. Then it puts that copy into the log. If the
  /// process ends in between, a second call completes the repair.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log.
  /// - Returns: The position from which the log continues.
  /// - Throws: ``StoreError`` `replicated` if the store has followed no log, `logLost` for a log that another store has
  ///   begun; ``LogFault``, `LMDBError`.
  static func republish(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let store = try ModelStore(path: path)
    defer { store.close() }
    let (found, start) = try store.read { (try $0.replicationRow, try $0.replicationStart) }
    guard var row = found else { throw isNoReplica(path) }
    try refuseOther(log, row, path)
    var genesis = Genesis(
      log: row.log, commit: start.commit, nextNode: start.nextNode, nextType: start.nextType)
    genesis.position = try append(genesis, log)
    row.position = genesis.position
    row.chain = EntryChain().appending(LogMessage.genesis(genesis).bytes)
    let copy = try StoreCopy(of: store, in: StoreCopy.outgoing(path))
    defer { copy.remove() }
    try StoreCopy.setRow(row, of: copy.path)
    try copy.reading { try log.putSnapshot(at: row.position, $0) }
    // This comes last: until then the position of the store is unchanged, and the call can be repeated.
    store.close()
    try StoreCopy.setRow(row, of: path)
    return row.position
  }

  /// Refuses a log that another store has begun: its members could not apply the messages of this store.
  ///
  /// - Throws: ``StoreError`` `logLost`; ``LogFault``.
  private static func refuseOther(
    _ log: any ReplicationLog, _ row: ReplicationRow, _ path: String
  ) throws {
    let first: LoggedMessage?
    do {
      first = try log.messages(after: 0, limit: 1).first
    } catch LogFault.gone {
      // The log no longer has its beginning, or was emptied.
      return
    }
    guard let first else { return }
    if case .genesis(let genesis)? = try? LogMessage(first.bytes), genesis.log == row.log { return }
    throw StoreError(
      .logLost, path,
      "another store has begun the log, which ends at position \(try log.end()); stop its machines and empty the log, "
        + "or replace the contents of this store by joining it")
  }

  /// Appends a message that begins the log again at its own position.
  ///
  /// - Returns: The position.
  private static func append(_ genesis: Genesis, _ log: any ReplicationLog) throws -> UInt64 {
    let random = UInt64.random(in: 0...UInt64.max)
    for _ in 0..<attemptCountMaximum {
      var genesis = genesis
      let end = try log.end()
      genesis.position = end + 1
      let message = LogMessage.genesis(genesis).bytes
      // Each position needs a name of its own, because a log recognizes repeated messages by their names.
      let name = "again-\(random)-\(genesis.position)"
      do {
        let position = try log.append(message, named: name, expecting: end)
        if position == genesis.position { return position }
      } catch LogFault.noAnswer {
        // The message may have been appended. If there are two, only the last one is valid.
      } catch LogFault.endsElsewhere {}
    }
    throw LogFault.unavailable("the log does not accept a message")
  }

  /// Replaces a store by the newest copy of a log, whatever its contents.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log.
  /// - Returns: The new position of the store.
  /// - Throws: ``StoreError`` `replicated` if the store has followed no log, `unavailable` if there is no copy;
  ///   ``LogFault``, `LMDBError`.
  static func replace(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let store = try ModelStore(path: path)
    defer { store.close() }
    guard let row = try store.read({ try $0.replicationRow }) else { throw isNoReplica(path) }
    store.close()
    guard let position = try becomeNewestCopy(path, log, replacing: row) else {
      throw StoreError(.unavailable, path, "the log has no copy of a store")
    }
    return position
  }

  /// Replaces the shared rows of a store by those of the newest copy of a log; the store's own properties and tables
  /// stay.
  ///
  /// No process may have the store open for writing. The cursors and commit numbers of the store expire unless the
  /// history of the copy contains its commits.
  ///
  /// - Returns: The new position of the store; `nil` if the log has no copy.
  /// - Throws: ``StoreError`` `logLost` for a copy that is not of this log; ``LogFault``, `LMDBError`.
  static func becomeNewestCopy(
    _ path: String, _ log: any ReplicationLog,
    _ configuration: ReplicaConfiguration = ReplicaConfiguration(),
    replacing row: ReplicationRow? = nil
  ) throws -> UInt64? {
    guard
      let copy = try StoreCopy(
        from: log, in: StoreCopy.incoming(path), isLookedAt: configuration.looksAtPages)
    else {
      return nil
    }
    defer { copy.remove() }
    try checkCopy(copy, of: log, path, configuration)
    let own = try Environment(path: path)
    defer { own.close() }
    try copy.opened { other in
      let replacement = try RowReplacement(own, other.environment)
      let isContinued = try row.map { row in
        try other.read { try $0.chain(at: row.position) } == row.chain
      }
      let meta = try own.rawTable("meta")
      try own.write { transaction in
        let history = try SharedRows.newestHistory(in: transaction, meta: meta)
        try replacement.apply(to: &transaction, isContinued: isContinued ?? true)
        // After a log was begun again, its later commits have a mark that no lost commit has.
        let isSame = try SharedRows.newestHistory(in: transaction, meta: meta) == history
        if isContinued == false, isSame {
          try SharedRows.beginOwnHistory(in: &transaction, meta: meta, path: path)
        }
      }
    }
    return copy.row.position
  }

  /// Checks that a copy is from the history of a log, and not ahead of its end.
  ///
  /// - Throws: ``StoreError`` `logLost`, `forked`; ``LogFault``.
  static func checkCopy(
    _ copy: StoreCopy, of log: any ReplicationLog, _ path: String,
    _ configuration: ReplicaConfiguration = ReplicaConfiguration()
  ) throws {
    if configuration.omissions.contains(.copies) { return }
    let row = copy.row
    try refuseOther(log, row, path)
    let end = try log.end()
    guard row.position <= end else {
      throw StoreError(
        .logLost, path,
        "the log ends at position \(end), and its newest copy has \(row.position); a machine that has the log's "
          + "end must continue the log from there: republish")
    }
    _ = try copy.opened { try Replica.compare($0, log, configuration) }
  }

  /// Puts a copy of a store into a log; other processes may have the store open.
  ///
  /// - Returns: The position of the copy.
  /// - Throws: ``StoreError`` `logLost` for a log that is not the store's, `replicated`; ``LogFault``, `LMDBError`.
  static func putSnapshot(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let copy = try copy(path)
    defer { copy.remove() }
    try checkCopy(copy, of: log, path)
    try Replica.requireRest(behind: copy.row, end: try log.end(), log)
    try copy.reading { try log.putSnapshot(at: copy.row.position, $0) }
    return copy.row.position
  }

  /// Copies a store for another machine.
  ///
  /// - Returns: The position of the copy.
  static func copy(_ path: String, to folder: String) throws -> UInt64 {
    let isTaken = StoreError(.replicated, folder, "there is a store already")
    guard !StoreCopy.isThere(folder) else { throw isTaken }
    let copy = try copy(path)
    defer { copy.remove() }
    guard try copy.become(folder) else { throw isTaken }
    return copy.row.position
  }

  /// A copy of a store that follows a log, in a folder inside that of the store; the caller removes it.
  static func copy(_ path: String) throws -> StoreCopy {
    // The reference keeps the store open until it has been copied.
    if let store = ModelStore.opened(at: path) { return try copy(store, path) }
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    return try copy(store, path)
  }

  private static func copy(_ store: ModelStore, _ path: String) throws -> StoreCopy {
    guard try store.read({ try $0.replicationRow }) != nil else { throw isNoReplica(path) }
    return try StoreCopy(of: store, in: StoreCopy.outgoing(store.folder))
  }

  private static func isNoReplica(_ path: String) -> StoreError {
    StoreError(.replicated, path, "the store has followed no log")
  }

  private static let attemptCountMaximum = 16
}
