import PandoLMDB
import PandoModels
import PandoStore

/// Copies of stores beside the log.
extension Replica {
  /// A copy for which a replica waits.
  struct AwaitedCopy {
    /// The least position that it has to have.
    let position: UInt64
    /// The position of a damaged one, and the time at which it was read; `nil` if there was none.
    var damaged: (position: UInt64, time: Int64)?
  }

  /// Puts a copy of the store beside the log.
  ///
  /// - Parameter goesOn: Asked now and then; `false` gives it up.
  /// - Returns: The position that it has.
  /// - Throws: ``LogFault``, `StoreError`, `LMDBError`.
  package func putSnapshot(while goesOn: @escaping () -> Bool = { true }) throws -> UInt64 {
    guard let store else { throw StoreError(.closed, "replication", "the store has been closed") }
    let copy = try StoreCopy(of: store, in: StoreCopy.outgoing(store.folder), while: goesOn)
    defer { copy.remove() }
    // Others become equal to it: it has to be of this log.
    try copy.opened { try look(at: $0) }
    try copy.reading { try log.putSnapshot(at: copy.row.position, $0) }
    return copy.row.position
  }

  /// Whether the newest copy is so old that another one has to be made.
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

  /// Makes the store what a copy beside the log is: what the store would have to take in is not there.
  ///
  /// - Parameters:
  ///   - position: The least position that the copy has to have.
  ///   - ownPosition: How far the store is.
  ///   - isBegunAgain: Whether the log goes on from that copy, whatever the store has; else the store's history
  ///     has to be that of the copy.
  ///   - writer: Where to write.
  /// - Throws: ``StoreError`` `logLost` if the copy is not of the store's history, if it is damaged, or there is none;
  ///   ``LogFault`` `unavailable` if it may come yet.
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
          "the log was begun again at position \(position), and the copy it goes on from is not there yet"
        )
      }
      // Until a copy comes.
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
              + "has taken in \(ownPosition)"))
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
      // Numbers that were shown may be those of other commits now.
      store.feed.noteReplacement(by: try store.read { try $0.commitValue })
    } else {
      // They are told of no single write: they find the commits as those of another process.
      store.feed.lookForCommits()
    }
    try configuration.onStep?(.didTakeIn)
    try decideBehindCopy(writer)
  }

  /// Lets a replica go on that has stopped for want of a copy, if there is one by now.
  ///
  /// - Returns: Whether it waits for one still.
  /// - Throws: ``LogFault``.
  package func looksForCopy() throws -> Bool {
    guard let awaited = awaitedCopy else { return false }
    guard let newest = try log.snapshotPosition(), newest >= awaited.position else { return true }
    if let damaged = awaited.damaged, damaged.position == newest {
      // Another one may have taken its place.
      let age = configuration.clock() - damaged.time
      if age >= 0, age < Self.damagedCopyPause { return true }
    }
    awaitedCopy = nil
    halt = nil
    return false
  }

  /// Looks for the entry that was sent in what a copy has brought.
  private func decideBehindCopy(_ writer: EntryWriter) throws {
    guard let identity = unsafe sent?.identity else { return }
    var last: UInt64 = 0
    try writer.flush { last = try $0.transaction.origin(identity.origin)?.counter ?? 0 }
    if last < identity.counter { return }
    throw StoreError(
      .unavailable, "replication",
      "the log does not hold any more what became of a write; what is stored says it")
  }

  /// Reads the newest copy beside the log.
  ///
  /// - Throws: As the initializer of ``StoreCopy``.
  func incomingCopy(of store: ModelStore) throws -> StoreCopy? {
    try StoreCopy(
      from: log, in: StoreCopy.incoming(store.folder), isLookedAt: configuration.looksAtPages)
  }

  /// In nanoseconds: so long a copy that is damaged is not read again.
  private static let damagedCopyPause: Int64 = 60_000_000_000
  /// With so many messages behind it, a copy is old wherever it is.
  private static let messagesPerSnapshot: UInt64 = 1_000_000
  /// Which part of the messages that are kept.
  private static let retentionPerSnapshot = 1.0 / 3
}
