import PandoStore
import PandoSystem

/// Checks that the log is still the one that the store has followed.
extension Replica {
  /// The last comparison of the store with its log.
  struct Comparison {
    /// The time of the comparison, by the configuration's clock; `nil` if the log was interrupted since.
    var time: Int64?
    var interruptions: UInt64 = 0
    /// The position of the store at the comparison; 0 before the first one.
    var position: UInt64 = 0
    /// The time of the last message that a look appended because the log claimed to be shorter than the store, and the
    /// pause until the next one; `nil` if the log has not claimed it since.
    var proof: (time: Int64, pause: Int64)?
  }

  /// Reads the end of the log, and checks that the log still has the messages that the store has applied last.
  ///
  /// Any thread.
  ///
  /// - Returns: The position of the last message.
  /// - Throws: ``StoreError`` `logLost` or `forked`, after which the replica has stopped; ``LogFault``.
  @discardableResult
  package func look() throws -> UInt64 {
    if let halt { throw halt }
    guard let store else { throw StoreError(.closed, "replication", "the store has been closed") }
    let (end, row) = try examine(store)
    guard let row, end < row.position, isProofDue else { return end }
    // The writer looks again, and appends a message as proof.
    noteInterruption()
    try store.write { _ in }
    return lastSeen
  }

  /// Whether a look appends a message because the log claims to be shorter.
  ///
  /// The pause grows as long as the log claims it and accepts messages.
  private var isProofDue: Bool {
    let (now, interruptions) = (configuration.clock(), log.interruptionCount)
    return comparison.withLock { comparison in
      if let proof = comparison.proof, interruptions == comparison.interruptions, now >= proof.time,
        now - proof.time < proof.pause
      {
        return false
      }
      comparison.proof = (now, Self.proofPause(after: comparison.proof?.pause ?? 0))
      return true
    }
  }

  /// As ``look()``, on the thread that leads the writes.
  ///
  /// - Parameter deadline: The time at which the call fails.
  /// - Returns: A position that the log has.
  /// - Throws: As ``look()``.
  func lookBeforeWriting(until deadline: Int64) throws -> UInt64 {
    guard let store else { throw StoreError(.closed, "replication", "the store has been closed") }
    return try LogDeadline.$nanoseconds.withValue(deadline) {
      let (end, row) = try examine(store)
      guard let row, end < row.position else { return end }
      return try examine(store, end: try appendMarker(behind: row, until: deadline)).end
    }
  }

  /// Compares a copy of the store with the log.
  ///
  /// - Throws: As ``look()``; ``LogFault`` `unavailable` if the log claims to be shorter than the copy, or does not
  ///   continue after it.
  func look(at copy: ModelStore) throws {
    let (end, row) = try examine(copy)
    if let row, end < row.position {
      throw LogFault.unavailable(
        "the log claims to end at position \(end), and the copy has \(row.position)")
    }
    if let row { try Self.requireRest(behind: row, end: end, log) }
  }

  /// Checks that a log still has the messages after a copy.
  ///
  /// Otherwise other machines would wait for them, and could use no earlier copy.
  ///
  /// - Throws: ``LogFault`` `unavailable` if the log does not have them.
  static func requireRest(
    behind row: ReplicationRow, end: UInt64, _ log: any ReplicationLog
  ) throws {
    guard end > row.position, try log.message(at: row.position + 1) == nil else { return }
    throw LogFault.unavailable(
      "the log ends at position \(end) and no longer has the messages after \(row.position), the position of the copy: "
        + "no machine could continue from it")
  }

  /// Compares a store, or a copy of it, with the log.
  ///
  /// A log that claims to be shorter may be on a server that is no longer the leader. It must append a message as
  /// proof.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - provenEnd: A position that the log has, if the log claims to be shorter.
  /// - Returns: The end of the log, as far as known, and the position of the store.
  /// - Throws: ``StoreError`` `logLost` for another log, `forked`, after which the replica has stopped; ``LogFault``.
  private func examine(
    _ store: ModelStore, end provenEnd: UInt64? = nil
  ) throws -> (end: UInt64, row: ReplicationRow?) {
    let interruptions = log.interruptionCount
    let now = configuration.clock()
    if configuration.omissions.contains(.lastMessage) {
      comparison.withLock { $0 = Comparison(time: now, interruptions: interruptions) }
      return (try log.end(), nil)
    }
    let found = try halting {
      let found = try Self.identify(store, log)
      joined.withLock { $0 = found ?? $0 }
      return try Self.compareIfLonger(
        store, log, since: comparison.withLock(\.position), end: provenEnd)
    }
    noteHeard()
    let position = found.row?.position ?? 0
    if found.end >= position {
      comparison.withLock { comparison in
        (comparison.time, comparison.interruptions) = (now, interruptions)
        if found.isCompared { comparison.position = position }
        if provenEnd == nil { comparison.proof = nil }
      }
    }
    return (found.end, found.row)
  }

  /// Compares the identity of the log, as long as the log has its first message.
  ///
  /// - Returns: The properties of the log; `nil` for a store that follows none.
  /// - Throws: ``StoreError`` `logLost` for another log; ``LogFault``.
  private static func identify(
    _ store: ModelStore, _ log: any ReplicationLog
  ) throws -> Joined? {
    guard let row = try store.read({ try $0.replicationRow }) else { return nil }
    guard let first = try log.message(at: 1) else {
      return Joined(log: row.log, beginsWithContent: false)
    }
    guard case .genesis(let genesis)? = try? LogMessage(first.bytes) else {
      throw StoreError(.logLost, store.path, "the log does not have the beginning of a log")
    }
    guard genesis.log == row.log else { throw try isAnother(log, row, store) }
    return Joined(log: row.log, beginsWithContent: genesis.commit > 0)
  }

  static func isAnother(
    _ log: any ReplicationLog, _ row: ReplicationRow, _ store: ModelStore
  ) throws -> StoreError {
    StoreError(
      .logLost, store.path,
      "the log is another one than the store has followed; it ends at position \(try log.end()), and the "
        + "store has applied \(row.position)")
  }

  /// Whether the log was interrupted since the last comparison, or that was too long ago.
  var needsLook: Bool {
    let (comparison, now) = (comparison.withLock(\.self), configuration.clock())
    guard let time = comparison.time, comparison.interruptions == log.interruptionCount else {
      return true
    }
    return now - time > Self.lookMaximum || now < time
  }

  /// Notes that the log did not answer: another server may answer next.
  func noteInterruption() { comparison.withLock { $0.time = nil } }

  /// Runs a closure, and stops the replica after an error that the store can't follow its log.
  func halting<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError where [.logLost, .forked].contains(error.code) {
      throw halting(error)
    }
  }

  func halting(_ error: StoreError) -> StoreError {
    halt = error
    return error
  }

  /// Compares the last applied message with the message of the log at the same position.
  ///
  /// - Returns: The position of the log's last message.
  /// - Throws: ``StoreError`` `logLost` if the log is shorter, `forked` if it has another message; ``LogFault``.
  @discardableResult
  static func compare(
    _ store: ModelStore, _ log: any ReplicationLog, _ configuration: ReplicaConfiguration
  ) throws -> UInt64 {
    if configuration.omissions.contains(.lastMessage) { return try log.end() }
    let found = try compareIfLonger(store, log, since: 0)
    if let row = found.row { try check(row, end: found.end, of: store) }
    return found.end
  }

  /// The same comparison, unless the log claims to be shorter.
  ///
  /// A message that the store has just written itself proves nothing about earlier messages. So the call also compares
  /// the message at the position of the last comparison, and at the first comparison some more.
  ///
  /// - Returns: The end of the log, the position of the store, and whether the log has delivered a message to compare.
  private static func compareIfLonger(
    _ store: ModelStore, _ log: any ReplicationLog, since previous: UInt64,
    end provenEnd: UInt64? = nil
  ) throws -> (end: UInt64, row: ReplicationRow?, isCompared: Bool) {
    // The hashes are read first, because the store may apply more messages meanwhile.
    let (found, pairs) = try store.read { snapshot -> (ReplicationRow?, [Pair]) in
      guard let row = try snapshot.replicationRow, row.position > 0 else { return (nil, []) }
      var positions = [row.position]
      if previous == 0 {
        let first = row.position - min(row.position - 1, firstCount)
        positions += (first..<row.position).reversed()
      } else if previous < row.position {
        positions.append(previous)
      }
      return (row, try positions.compactMap { try Pair($0, snapshot) })
    }
    let end = try provenEnd ?? log.end()
    guard let row = found, end >= row.position else { return (end, found, false) }
    var isCompared = pairs.isEmpty
    for pair in pairs {
      // The log has no earlier messages if it no longer has this one.
      guard let message = try log.message(at: pair.position) else { break }
      isCompared = true
      guard pair.before.appending(message.bytes) == pair.own else {
        throw forked(at: pair.position, behind: row.position, end: end, store.path)
      }
    }
    return (end, row, isCompared)
  }

  /// The hashes of one position; `nil` if an earlier version of the library did not store them.
  private struct Pair {
    let position: UInt64
    let before: EntryChain
    let own: EntryChain

    init?(_ position: UInt64, _ snapshot: ModelSnapshot) throws {
      guard let before = try snapshot.chain(at: position - 1),
        let own = try snapshot.chain(at: position)
      else { return nil }
      (self.position, self.before, self.own) = (position, before, own)
    }
  }

  static func forked(
    at position: UInt64, behind ownPosition: UInt64, end: UInt64, _ path: String
  ) -> StoreError {
    StoreError(
      .forked, path,
      "at position \(position) the log has another message than the store, which has applied \(ownPosition); the "
        + "log has lost messages of this store, and ends at position \(end) with later writes of other machines. Keep a dump "
        + "of this store and make it equal to the others (join --replace), or continue the log from it (repair --republish)"
    )
  }

  /// Checks that a copy continues the history of a store.
  ///
  /// - Throws: ``StoreError`` `forked` if it does not, `logLost` if the copy does not show it.
  func requireContinuation(_ copy: ModelStore, of store: ModelStore) throws {
    guard let row = try store.read({ try $0.replicationRow }),
      !configuration.omissions.contains(.copies)
    else { return }
    let (position, chain, first) = try copy.read { snapshot in
      (
        try snapshot.replicationRow?.position ?? 0, try snapshot.chain(at: row.position),
        try snapshot.firstChain?.position
      )
    }
    if chain == row.chain { return }
    if chain != nil {
      throw Self.forked(at: row.position, behind: row.position, end: position, "replication")
    }
    throw StoreError(
      .logLost, "replication",
      "the log no longer has the messages after position \(row.position), which the store has applied. Its newest copy at "
        + "position \(position) has a history from position \(first ?? position) on, so the copy can't be compared with the "
        + "store")
  }

  /// The number of messages before the last one that are compared when a store is opened.
  private static let firstCount: UInt64 = 15
  /// In nanoseconds: after this time the store is compared again before it writes.
  private static let lookMaximum: Int64 = 10_000_000_000
  /// In nanoseconds: the pause after a message that was appended as proof.
  ///
  /// 4 s at first, twice as long each time, and a
  /// minute at most.
  static func proofPause(after pause: Int64) -> Int64 {
    min(pause == 0 ? 4_000_000_000 : 2 * pause, 60_000_000_000)
  }
}

/// The marks of commits.
extension Replica {
  /// Gives the commits of a store the marks of other machines' commits, if an earlier version followed the log and
  /// stored none.
  ///
  /// The mark is that of the message that began the log, or began it again. If the log no longer has that message, the
  /// commits get no mark.
  static func addHistory(to store: ModelStore, _ log: any ReplicationLog) throws {
    let (row, first, isMarked) = try store.read {
      (try $0.replicationRow, try $0.firstChain, try $0.hasHistories)
    }
    guard let row, !isMarked else { return }
    let position = first.map { $0.chain == EntryChain() ? $0.position + 1 : 1 } ?? 1
    guard let message = try log.message(at: position),
      case .genesis(let genesis)? = try? LogMessage(message.bytes), genesis.log == row.log,
      genesis.position == position
    else { return }
    let beginning = ReplicationRow(
      log: row.log, position: position, chain: EntryChain().appending(message.bytes))
    let meta = try store.environment.rawTable("meta")
    try store.environment.write {
      try beginning.addHistory(from: genesis.commit + 1, in: &$0, meta: meta)
    }
  }
}

/// Entries that were made from another history.
extension Replica {
  /// Checks whether the store has another history than the log, or only the machine that made an entry.
  ///
  /// The call compares the store message by message, as far back as the store and the log go.
  ///
  /// - Parameters:
  ///   - base: The position from which the entry was made.
  ///   - position: The position of the entry.
  ///   - writer: The access to the store.
  /// - Throws: ``StoreError`` `forked` if the store differs, `logLost` if that can't be decided; ``LogFault``.
  func confirmHistory(
    against base: UInt64, at position: UInt64, _ writer: EntryWriter
  ) throws {
    if configuration.omissions.contains(.lastMessage) { return }
    let now = configuration.clock()
    if let time = unsafe confirmed, now >= time, now - time < Self.confirmationMaximum { return }
    let (found, first) = try writer.read { (try $0.replicationRow, try $0.firstChain) }
    guard let row = found, let first else { return }
    var index = row.position
    while index > first.position {
      guard let message = try log.message(at: index) else { break }
      let (before, own) = try writer.read {
        (try $0.chain(at: index - 1), try $0.chain(at: index))
      }
      guard let before, let own else { break }
      guard before.appending(message.bytes) == own else {
        throw halting(
          Self.forked(at: index, behind: row.position, end: lastSeen, "replication"))
      }
      index -= 1
    }
    // An entry can't have been made from an earlier position.
    if index == first.position {
      unsafe confirmed = now
      return
    }
    guard try confirmByCopy(row, from: index, writer) else {
      throw halting(
        StoreError(
          .logLost, "replication",
          "position \(position) of the log was made from another history than the store has, which has applied "
            + "\(row.position); both agree on the messages that the log still has, from position \(index + 1) on, and "
            + "the earlier history can't be compared"))
    }
    unsafe confirmed = now
  }

  /// Compares the store with the newest copy in the log, from which other machines begin and continue.
  ///
  /// - Parameters:
  ///   - row: The position of the store.
  ///   - first: The first position whose message can be compared in the log itself; an earlier copy proves nothing.
  ///   - writer: The access to the store.
  /// - Returns: Whether a comparison was possible.
  /// - Throws: ``StoreError`` `forked` if the copy has another history.
  private func confirmByCopy(
    _ row: ReplicationRow, from first: UInt64, _ writer: EntryWriter
  ) throws -> Bool {
    guard let store, try log.snapshotPosition() ?? 0 >= first else { return false }
    let found: StoreCopy?
    do {
      found = try incomingCopy(of: store)
    } catch let error as StoreError where error.code == .damaged {
      return false
    }
    guard let copy = found else { return false }
    defer { copy.remove() }
    let position = min(copy.row.position, row.position)
    guard position >= first else { return false }
    let own = try writer.read { try $0.chain(at: position) }
    var other: EntryChain? = copy.row.chain
    if position < copy.row.position {
      other = try copy.opened { try $0.read { try $0.chain(at: position) } }
    }
    guard let own, let other else { return false }
    guard own == other else {
      throw halting(
        Self.forked(at: position, behind: row.position, end: lastSeen, "replication"))
    }
    return true
  }

  /// In nanoseconds: a store that was compared is not compared again for this long, however many entries arrive.
  private static let confirmationMaximum: Int64 = 5_000_000_000
}
