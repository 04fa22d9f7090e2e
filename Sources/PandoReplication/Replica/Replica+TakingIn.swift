import PandoModels
package import PandoStore
import PandoSystem

/// A valid write that the store could not apply: the transaction is run again without it.
private struct RefusedWrite: Error, Hashable {
  let position: UInt64
  let index: Int
}

/// A log that was begun again: the messages after a position were made from a copy that contains all before.
private struct Rebeginning: Error {
  let position: UInt64
}

/// An entry that was made from another history than the store's: the store must be checked before the entry is ignored.
private struct ForeignEntry: Error {
  let position: UInt64
  let base: UInt64
}

/// The writes and entries that a repeated transaction ignores.
private struct LeftOut {
  var writes: Set<RefusedWrite> = []
  /// The positions of foreign entries.
  var entries: Set<UInt64> = []
}

/// A second copy of a message that begins the log: its append was repeated.
private struct RepeatedBeginning: Error {}

/// The result of applying some messages, valid once their transaction is committed.
private struct TakenIn {
  var statistics = ReplicaStatistics()
  var verdicts: [WriteVerdict]?
  var judgements: [Replica.Judgement] = []
  var window = JudgingWindow()
  /// The highest position from which an entry was made, and the last position that must be compared.
  var covered: UInt64 = 0
  var wanted: UInt64 = 0
  /// The position before the messages, and the one after them.
  var start: UInt64 = 0
  var position: UInt64 = 0
}

extension Replica {
  package func settle(_ writer: EntryWriter) throws -> [WriteVerdict] {
    let identity = unsafe failure == nil ? sent?.identity : nil
    do {
      return try translatingFaults("replication") { try decide(writer) }
    } catch {
      throw identity.map { noteUnanswered($0, error, writer) } ?? error
    }
  }

  private func decide(_ writer: EntryWriter) throws -> [WriteVerdict] {
    defer { unsafe sent = nil }
    if let failure = unsafe exchange(&failure, with: nil) { throw failure }
    var (attempts, hasProved) = (0, false)
    var end = unsafe sent?.deadline ?? deadline(ofWritesSince: .max)
    try serveBarrier(until: end)
    if needsLook { noteEnd(try lookBeforeWriting(until: end)) }
    if unsafe awaitedTurn != nil {
      waitForTurn(behind: try writer.read { try $0.replicationRow?.position ?? 0 })
    }
    // Messages that arrive later are for the next flush, because other machines may append all the time.
    let goal = lastSeen
    while true {
      if needsLook { noteEnd(try lookBeforeWriting(until: end)) }
      let position = try writer.read { try $0.replicationRow?.position ?? 0 }
      if unsafe sent == nil, goal <= position {
        unsafe mayLag = true
        return []
      }
      let messages: [LoggedMessage]
      do {
        messages = try LogDeadline.$nanoseconds.withValue(end) {
          try log.messages(after: position, limit: configuration.messagesPerCommit)
        }
        noteHeard()
      } catch LogFault.gone(let first) {
        try goOn(from: first - 1, behind: position, isBegunAgain: false, writer)
        continue
      }
      if !messages.isEmpty {
        noteEnd(messages[messages.count - 1].position)
        do {
          if let verdicts = try takeIn(messages, writer) {
            // Refused writes must see the newest state when they are repeated.
            unsafe mayLag = verdicts.allSatisfy(\.isApplied)
            return verdicts
          }
        } catch let beginning as Rebeginning {
          try goOn(from: beginning.position, behind: position, isBegunAgain: true, writer)
        }
        // Many earlier messages arrive first, so the deadline is extended.
        if messages.count == configuration.messagesPerCommit {
          end = deadline(ofWritesSince: .max)
        }
        // An entry that the log lacks is sent again, even if other machines append all the time.
        let isLost = unsafe sent.map { $0.position == nil } ?? false
        if !isLost || messages[messages.count - 1].position < goal { continue }
      }
      attempts += 1
      // A repeated entry is a proof too. An entry at a position before the store's proves that the log is another one.
      let isMissing = unsafe sent.map { $0.position ?? 0 > position } ?? true
      if messages.isEmpty, isMissing, attempts > 1, !hasProved {
        hasProved = true
        try proveGap(behind: position, until: end)
      }
      guard attempts <= configuration.resendCountMaximum,
        attempts == 1 || monotonicNanoseconds() < end
      else {
        try checkReplacement(behind: position, writer)
        throw StoreError(
          .unavailable, "replication",
          "the log does not have the outcome of a write; the write may still arrive")
      }
      if let sent = unsafe sent, sent.position == nil {
        do { try send() } catch LogFault.noAnswer { noteInterruption() }
      }
    }
  }

  /// Checks whether another log has replaced the followed one: it has accepted an entry at a position where the store
  /// had applied another one.
  ///
  /// The end that the log names proves nothing, because a server may lack messages that others have.
  ///
  /// - Throws: ``StoreError`` `logLost` if it has.
  private func checkReplacement(behind position: UInt64, _ writer: EntryWriter) throws {
    guard let sent = unsafe sent, let own = sent.position, own <= position else { return }
    var last: UInt64 = 0
    try writer.flush { flush in
      last = try flush.transaction.origin(sent.identity.origin)?.counter ?? 0
    }
    guard last < sent.identity.counter else { return }
    throw halting(
      StoreError(
        .logLost, "replication",
        "another log has replaced the one that the store followed; it ended at position \(own - 1) when the store "
          + "had applied \(position)"))
  }

  /// Applies messages in one transaction: all of them, or those before one that stops the replica.
  ///
  /// - Returns: The verdicts on the writes of the entry that was sent, if it is among the messages.
  private func takeIn(
    _ messages: [LoggedMessage], _ writer: EntryWriter
  ) throws -> [WriteVerdict]? {
    var messages = messages
    var leftOut = LeftOut()
    while true {
      var taken = TakenIn()
      do {
        try writer.flush { flush in
          taken = TakenIn()
          try takeIn(messages, &flush, leftOut, &taken)
          try configuration.onStep?(.willTakeIn)
        }
      } catch let write as RefusedWrite {
        leftOut.writes.insert(write)
        continue
      } catch let entry as ForeignEntry {
        let before = messages.prefix { $0.position < entry.position }
        let isFirst = before.allSatisfy { $0.position <= taken.start }
        if isFirst {
          try confirmHistory(against: entry.base, at: entry.position, writer)
          leftOut.entries.insert(entry.position)
        } else {
          // The earlier messages are applied first, because the check reads the stored state.
          messages = Array(before)
        }
        continue
      } catch
        where error is Rebeginning
        || [.logLost, .forked, .needsUpgrade].contains((error as? StoreError)?.code)
      {
        let valid = messages.prefix { $0.position <= taken.position }
        if !valid.isEmpty {
          messages = Array(valid)
          continue
        }
        if let error = error as? StoreError { halt = error }
        throw error
      }
      noteCoverage(
        taken.covered, wanted: taken.wanted, isUrgent: taken.statistics.foreign > 0)
      note(taken.judgements)
      unsafe window = taken.window
      count { statistics in
        statistics.judged += taken.statistics.judged
        statistics.refused += taken.statistics.refused
        statistics.duplicates += taken.statistics.duplicates
        statistics.malformed += taken.statistics.malformed
        statistics.foreign += taken.statistics.foreign
      }
      try configuration.onStep?(.didTakeIn)
      return taken.verdicts
    }
  }

  private func takeIn(
    _ messages: [LoggedMessage], _ flush: inout EntryFlush, _ leftOut: LeftOut,
    _ taken: inout TakenIn
  ) throws {
    let transaction = flush.transaction
    guard var row = try transaction.replicationRow else {
      throw StoreError(.logLost, "replication", "the store follows no log")
    }
    let start = row.position
    taken.start = start
    try transaction.beginChains(at: row)
    // The window is stored back after the commit.
    var window = unsafe exchange(&window, with: JudgingWindow())
    defer { taken.window = window }
    for message in messages where message.position > row.position {
      taken.position = row.position
      guard
        message.position == row.position + 1 || configuration.omissions.contains(.gaps)
      else {
        throw Self.logLost(at: message.position, behind: row.position)
      }
      let before = row
      row.position = message.position
      row.chain = row.chain.appending(message.bytes)
      try transaction.setChain(row.chain, at: row.position)
      do {
        if let entry = try wholeEntry(message, of: row.log, transaction) {
          let last = try transaction.origin(entry.identity.origin)?.counter ?? 0
          guard entry.identity.counter > last else {
            taken.statistics.duplicates += 1
            continue
          }
          try transaction.setOrigin(
            entry.identity.origin,
            OriginRow(counter: entry.identity.counter, position: message.position))
          try takeIn(entry, at: row.position, before, &flush, &window, leftOut, &taken)
        }
      } catch is RepeatedBeginning {
        taken.statistics.duplicates += 1
      } catch EntryFault.malformed {
        taken.statistics.malformed += 1
      } catch EntryFault.newer where configuration.omissions.contains(.versions) {
      } catch EntryFault.newer(let version) {
        throw StoreError(
          .needsUpgrade, "replication",
          "position \(message.position) of the log is of version \(version); this program reads "
            + "\(EntryLimits.version)")
      }
    }
    try flush.transaction.setReplicationRow(row)
    try flush.transaction.trimChains(from: start, to: row.position)
    if row.position / 1000 != (messages.first?.position ?? 0) / 1000, row.position > window.range {
      try flush.transaction.forgetOrigins(before: row.position - window.range)
    }
  }

  /// The entry in a message, or the entry whose last part it is; `nil` for any other message.
  private func wholeEntry(
    _ message: LoggedMessage, of log: [UInt8], _ transaction: borrowing ModelTransaction
  ) throws -> Entry? {
    switch try LogMessage(message.bytes) {
    case .entry(let entry): return entry
    case .genesis(let genesis):
      if message.position == 1 { return nil }
      guard genesis.position == message.position else {
        if genesis.log == log { throw RepeatedBeginning() }
        throw EntryFault.malformed("a second beginning")
      }
      guard genesis.log == log else {
        throw StoreError(
          .logLost, "replication",
          "position \(message.position) of the log continues from a store of another log than this store follows"
        )
      }
      throw Rebeginning(position: message.position)
    case .part(let last):
      guard last.isLast else { return nil }
      let bytes = try bytes(of: last, at: message.position, transaction)
      guard case .entry(let entry) = try LogMessage(bytes), entry.identity == last.identity else {
        throw EntryFault.malformed("parts of no entry")
      }
      return entry
    }
  }

  /// Judges an entry, and applies its valid writes.
  private func takeIn(
    _ entry: Entry, at position: UInt64, _ before: ReplicationRow, _ flush: inout EntryFlush,
    _ window: inout JudgingWindow, _ leftOut: LeftOut, _ taken: inout TakenIn
  ) throws {
    let start = flush.transaction.commitValue
    guard entry.nodeCount <= Self.nodeCountMaximum else {
      throw EntryFault.malformed("it uses too many numbers")
    }
    var fits = entry.base > before.position || position - entry.base <= window.range
    if fits {
      switch try origin(of: entry, before, flush.transaction) {
      case .own: taken.covered = max(taken.covered, entry.base)
      case .unknown: break
      case .forgotten: fits = false
      case .other:
        guard leftOut.entries.contains(position) else {
          throw ForeignEntry(position: position, base: entry.base)
        }
        taken.statistics.foreign += 1
        // A mark lets the maker of the entry detect that its history differs.
        taken.wanted = position
        if unsafe entry.identity == sent?.identity {
          taken.verdicts = entry.writes.map { _ in .refused }
        }
        return
      }
    }
    if fits, entry.baseCommit > start {
      throw EntryFault.malformed("it was made from later messages")
    }
    if entry.baseCommit > start || start - entry.baseCommit > window.range { fits = false }
    for type in entry.types
    where try flush.transaction.schemaVersion(ofType: type.name) != type.schemaVersion {
      fits = false
    }
    if fits { fits = try !isOvertaken(entry, before, flush.transaction) }
    if !entry.writes.isEmpty {
      taken.wanted = position
      if fits { try window.open(after: entry.baseCommit, flush.transaction) }
    }
    var poisoned = WriteKeys()
    let areValid = try entry.writes.enumerated().map { index, write in
      let keys = WriteKeys(write)
      let isValid =
        try fits && !leftOut.writes.contains(RefusedWrite(position: position, index: index))
        && (!configuration.judges
          || !(write.isWholeStore && start > entry.baseCommit)
            && !window.conflicts(keys, after: entry.baseCommit, before: start + 1)
            && !window.conflicts(write.schemas, after: entry.baseCommit, flush.transaction)
            && !keys.meets(poisoned))
      if !isValid { poisoned.formUnion(keys) }
      return isValid
    }
    taken.statistics.judged += areValid.count
    taken.statistics.refused += areValid.filter { !$0 }.count
    if !entry.writes.isEmpty {
      taken.judgements.append(
        Judgement(
          origin: entry.identity.origin, position: position,
          refused: areValid.contains(false) ? poisoned : nil))
    }
    let isOwn = unsafe entry.identity == sent?.identity
    if isOwn { taken.verdicts = areValid.map { _ in .refused } }
    try noteAnswer(entry, areValid, at: position, flush.transaction)
    guard areValid.contains(true) else { return }
    let firstNode = flush.transaction.nextNode
    do {
      for name in entry.newTypes { try flush.transaction.register(type: name) }
    } catch {
      // The store has no more numbers of types, or the name is invalid.
      throw try refusal(of: error, position, areValid.firstIndex(of: true) ?? 0)
    }
    for (index, write) in entry.writes.enumerated() where areValid[index] {
      do {
        let changeSet = try flush.write(own: isOwn ? index : nil) { transaction in
          try transaction.apply(write, firstNode: firstNode, position: position)
        }
        if let changeSet { window.note(changeSet) }
        if isOwn { taken.verdicts?[index] = .applied(changeSet) }
      } catch {
        throw try refusal(of: error, position, index)
      }
    }
    flush.transaction.setNextNode(firstNode + entry.nodeCount)
  }

  /// Whether a newer program has written a type of an entry since the position from which the entry was made.
  ///
  /// The entry's program must then check whether it may still write the type.
  private func isOvertaken(
    _ entry: Entry, _ before: ReplicationRow, _ transaction: borrowing ModelTransaction
  ) throws -> Bool {
    let own = entry.writes.flatMap(\.schemas)
    for type in entry.types {
      guard let written = try transaction.writtenSchema(ofType: type.name),
        // A position of a log that was begun again at a lower one has no meaning here.
        written.position > entry.base, written.position <= before.position
      else { continue }
      let isNew = own.contains { $0.typeName == type.name && $0.version >= written.version }
      if !isNew { return true }
    }
    return false
  }

  /// The history from which an entry was made.
  private enum Origin {
    case own
    /// Unknown: an earlier version of the library wrote the store.
    case unknown
    /// Another history.
    case other
    /// A history from before the log was begun again.
    case forgotten
  }

  private func origin(
    of entry: Entry, _ before: ReplicationRow, _ transaction: borrowing ModelTransaction
  ) throws -> Origin {
    let known =
      entry.base == before.position ? before.chain : try transaction.chain(at: entry.base)
    // The maker of the entry had applied more messages than the log has.
    if entry.base > before.position { return .other }
    if configuration.omissions.contains(.origins) { return .unknown }
    if let known, known == entry.chain { return .own }
    let first = try transaction.firstChain
    // A log that was begun again has lost its former messages, including the last one.
    if let first, first.chain == EntryChain(), entry.base <= first.position { return .forgotten }
    return known == nil ? .unknown : .other
  }

  /// The refusal for an error of a write, if every replica gets the same error; otherwise throws the error.
  private func refusal(of error: any Error, _ position: UInt64, _ index: Int) throws -> RefusedWrite
  {
    switch error {
    case is EntryRefusal, is ModelError: break
    case let error as StoreError where error.code != .damaged && error.code != .engine: break
    default: throw error
    }
    return RefusedWrite(position: position, index: index)
  }

  /// The error for messages that the log no longer has, with the first position that it has.
  ///
  /// `damage` says why the copy that contains them can't be used.
  static func logLost(
    at first: UInt64, behind position: UInt64, for damage: StoreError? = nil
  ) -> StoreError {
    StoreError(
      .logLost, "replication",
      "the log continues at position \(first), and the store has applied \(position)"
        + (damage.map { "; \($0.reason)" } ?? ""))
  }

  private static let nodeCountMaximum: UInt64 = 1 << 32
}

extension JudgingWindow {
  /// How many commits, and positions, an entry may be after the one from which it was made.
  var range: UInt64 { ModelTransaction.judgedCommitCount }
}
