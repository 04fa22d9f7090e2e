import PandoLMDB
import PandoModels
import PandoStore

/// Copies of stores in the log.
extension Replica {
  /// A copy for which a replica waits.
  struct AwaitedCopy {
    /// The lowest position that is sufficient.
    let position: UInt64
    /// The position of a damaged copy, and the time at which it was read; `nil` if there was none.
    var damaged: (position: UInt64, time: Int64)?
  }

  /// Puts a copy of the store into the log.
  ///
  /// - Parameter goesOn: Called repeatedly; `false` cancels the copy.
  /// - Returns: The position of the copy.
  /// - Throws: ``LogFault``, `StoreError`, `LMDBError`.
  package func putSnapshot(while goesOn: @escaping () -> Bool = { true }) throws -> UInt64 {
    guard let store else { throw StoreError(.closed, "replication", "the store has been closed") }
    let copy = try StoreCopy(of: store, in: StoreCopy.outgoing(store.folder), while: goesOn)
    defer { copy.remove() }
    // Other stores will be replaced by the copy, so it must be from the history of this log.
    try copy.opened { try look(at: $0) }
    try copy.reading { try log.putSnapshot(at: copy.row.position, $0) }
    return copy.row.position
  }

  /// Whether the newest copy is so old that another one is due.
  package func needsSnapshot() throws -> Bool {
    guard halt == nil, let position = try store?.read({ try $0.replicationRow?.position }) else {
      return false
    }
    let newest = try log.snapshotPosition()
    if newest == nil, beginsWithContent { return true }
    let start = newest ?? 0
    guard position > start else { return false }
    return try position - start >= Self.messagesPerSnapshot
      || log.retentionUsed(since: start) > Self.retentionPerSnapshot
  }

  /// Replaces the store by a copy in the log, because the log no longer has the next messages.
  ///
  /// - Parameters:
  ///   - position: The lowest position that the copy may have.
  ///   - ownPosition: The position of the store.
  ///   - isBegunAgain: Whether the log continues from that copy, whatever the store contains; otherwise the copy must
  ///     continue the store's history.
  ///   - writer: The access to the store.
  /// - Throws: ``StoreError`` `logLost` if the copy does not continue the store's history, is damaged, or is missing;
  ///   ``LogFault`` `unavailable` if it may still arrive.
  func goOn(
    from position: UInt64, behind ownPosition: UInt64, isBegunAgain: Bool, _ writer: EntryWriter
  ) throws {
    guard let store else { return }
    let newest = try log.snapshotPosition() ?? 0
    var (copy, damage): (StoreCopy?, StoreError?)
    do {
      if newest >= position { copy = try incomingCopy(of: store) }
    } catch let error as StoreError where error.code == .damaged {
      damage = error
    }
    guard let copy else {
      if isBegunAgain, damage == nil {
        throw LogFault.unavailable(
          "the log was begun again at position \(position), and the copy from which it continues is not there yet"
        )
      }
      // The replica waits for such a copy.
      awaitedCopy = AwaitedCopy(
        position: position, damaged: damage.map { _ in (newest, configuration.clock()) })
      throw halting(Self.logLost(at: position + 1, behind: ownPosition, for: damage))
    }
    defer { copy.remove() }
    try copy.opened { other in
      let replacement = try RowReplacement(
        store.environment, other.environment, keepsHistories: !isBegunAgain)
      let isOfLog = copy.row.log == identity
      if isOfLog, !isBegunAgain { try halting { try requireContinuation(other, of: store) } }
      guard isOfLog, try replacement.keepsTypes() else {
        throw halting(
          StoreError(
            .logLost, "replication",
            "the copy at position \(copy.row.position) of the log is of another store than this one, which "
              + "has applied \(ownPosition)"))
      }
      try writer.flush { flush in
        try flush.replaceRows { try replacement.apply(to: &$0, isContinued: !isBegunAgain) }
        try configuration.onStep?(.willTakeIn)
      }
    }
    unsafe window = JudgingWindow()
    noteEnd(copy.row.position)
    noteCoverage(0, wanted: copy.row.position)
    count { $0.replaced += 1 }
    store.report(.replicaReplaced(position: copy.row.position))
    if isBegunAgain {
      // Commit numbers that callers have seen may now belong to other commits.
      store.feed.noteReplacement(by: try store.read { try $0.commitValue })
    } else {
      // Followers receive no single write: they find the commits like those of another process.
      store.feed.lookForCommits()
    }
    try configuration.onStep?(.didTakeIn)
    try decideBehindCopy(writer)
  }

  /// Restarts a replica that has stopped for lack of a copy, if there is a copy now.
  ///
  /// - Returns: Whether the replica still waits for one.
  /// - Throws: ``LogFault``.
  package func looksForCopy() throws -> Bool {
    guard let awaited = awaitedCopy else { return false }
    guard let newest = try log.snapshotPosition(), newest >= awaited.position else { return true }
    if let damaged = awaited.damaged, damaged.position == newest {
      // Another copy may have replaced the damaged one.
      let age = configuration.clock() - damaged.time
      if age >= 0, age < Self.damagedCopyPause { return true }
    }
    awaitedCopy = nil
    halt = nil
    return false
  }

  /// Searches the contents of a copy for the entry that was sent.
  private func decideBehindCopy(_ writer: EntryWriter) throws {
    guard let identity = unsafe sent?.identity else { return }
    var last: UInt64 = 0
    try writer.flush { last = try $0.transaction.origin(identity.origin)?.counter ?? 0 }
    if last < identity.counter { return }
    throw StoreError(
      .unavailable, "replication",
      "the log no longer has the outcome of a write; the stored data shows it")
  }

  /// Reads the newest copy in the log.
  ///
  /// - Throws: As the initializer of ``StoreCopy``.
  func incomingCopy(of store: ModelStore) throws -> StoreCopy? {
    try StoreCopy(
      from: log, in: StoreCopy.incoming(store.folder), isLookedAt: configuration.looksAtPages)
  }

  /// In nanoseconds: a damaged copy is not read again for this long.
  private static let damagedCopyPause: Int64 = 60_000_000_000
  /// The number of later messages that makes any copy old.
  private static let messagesPerSnapshot: UInt64 = 1_000_000
  /// The used part of the log's limits that makes a copy old.
  private static let retentionPerSnapshot = 1.0 / 3
}
