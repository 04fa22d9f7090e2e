import PandoModels
import PandoStore
import PandoSystem

/// Callers who wait for all that the log holds, and how far they are.
///
/// Where a log says it ends is no answer: a server that others have taken the lead from says what it knows. A message
/// that was appended has a position, and only who has the lead can give it.
struct Barrier {
  /// How often it was asked for.
  var asked: UInt64 = 0
  /// The last of these before which a message was appended, and that message's position.
  var done: UInt64 = 0
  var position: UInt64 = 0
  /// Whether the present flush has appended one.
  var isServed = false
  /// How many messages were appended.
  var counter: UInt64 = 0
  /// The last call for which the log has not taken a message, and why.
  var failure: (number: UInt64, fault: LogFault)?

  /// The last call for which a message has to be appended; `nil` if there is none.
  var wanted: UInt64? { asked > max(done, failure?.number ?? 0) ? asked : nil }

  /// Whether a call has its message.
  ///
  /// - Throws: ``LogFault`` if the log has not taken one.
  func isDone(_ number: UInt64) throws -> Bool {
    if done >= number { return true }
    if let failure, failure.number >= number { throw failure.fault }
    return false
  }
}

/// Waiting for all that the log holds.
extension Replica {
  /// Takes in all that was in the log when this was called, wherever it was written.
  ///
  /// Several callers share a message of the log, which holds no writes and says whose it is.
  ///
  /// A message that the log does not take fails the calls that wait for it, and nothing else: a machine may follow a log
  /// without the right to append.
  ///
  /// - Throws: `StoreError` `unavailable` if the log does not take the message, `logLost` if it is shorter than the
  ///   store; what keeps the store from taking in the rest.
  package func passBarrier() throws {
    guard let store else { return }
    _ = try looksForCopy()
    let number = barrier.withLock { barrier in
      barrier.asked += 1
      return barrier.asked
    }
    try translatingFaults("replication") {
      while try !barrier.withLock({ try $0.isDone(number) }) { try store.write { _ in } }
    }
    try takeIn(upTo: barrier.withLock(\.position))
  }

  /// How often ``passBarrier()`` was called.
  package var barrierCount: UInt64 { barrier.withLock(\.asked) }

  /// Whether somebody waits for a message that has to be appended before the next flush.
  var needsMarker: Bool {
    barrier.withLock { barrier in
      defer { barrier.isServed = false }
      return barrier.wanted != nil && !barrier.isServed
    }
  }

  /// Appends a message if somebody waits for one; on the thread that leads the writes.
  func serveBarrier(until deadline: Int64) throws {
    guard let asked = barrier.withLock(\.wanted),
      let row = try store?.read({ try $0.replicationRow })
    else { return }
    let position: UInt64
    do {
      position = try LogDeadline.$nanoseconds.withValue(deadline) {
        try appendMarker(behind: row, until: deadline)
      }
    } catch let fault as LogFault {
      barrier.withLock { $0.failure = (asked, fault) }
      return
    }
    noteEnd(position)
    barrier.withLock { barrier in
      (barrier.done, barrier.position, barrier.isServed) = (asked, position, true)
    }
  }

  /// Appends a message without writes.
  ///
  /// It is an entry like any other that says what history the store has; nobody has to judge it, and programs that
  /// know nothing of such entries take it in.
  ///
  /// - Parameters:
  ///   - row: How far the store has come.
  ///   - deadline: How long to wait.
  /// - Returns: Its position.
  /// - Throws: ``StoreError`` `logLost` if that lies before the store's: the log is shorter; ``LogFault``.
  func appendMarker(behind row: ReplicationRow, until deadline: Int64) throws -> UInt64 {
    let identity = barrier.withLock { barrier in
      barrier.counter += 1
      return EntryIdentity(origin: markerOrigin, counter: barrier.counter)
    }
    let entry = Entry(identity, base: row.position, baseCommit: 0, chain: row.chain)
    let bytes = LogMessage.entry(entry).bytes
    for attempt in 0...configuration.resendCountMaximum {
      do {
        let position = try log.append(bytes, named: identity.name, expecting: nil)
        noteHeard()
        guard position <= row.position else { return position }
        throw halting(
          StoreError(
            .logLost, "replication",
            "the log ends at position \(position - 1), and the store has taken in \(row.position)"))
      } catch LogFault.noAnswer {
        noteInterruption()
        if attempt > 0, monotonicNanoseconds() >= deadline { break }
      }
    }
    throw LogFault.noAnswer
  }
}

/// Messages that a log says it has, and does not give.
extension Replica {
  /// Appends a message behind those that do not come: if they are lost, it comes without them.
  ///
  /// A server that is late may have them, so this is done less and less often, as long as nothing comes.
  ///
  /// - Parameters:
  ///   - position: How far the store is.
  ///   - deadline: How long to wait.
  /// - Throws: As ``appendMarker(behind:until:)``; no ``LogFault``.
  func proveGap(behind position: UInt64, until deadline: Int64) throws {
    let now = configuration.clock()
    let isDue = gap.withLock { gap -> Bool in
      let pause = gap?.position == position ? gap?.pause ?? 0 : 0
      // At another position too: a server that is late gets no more of them.
      if let gap, now >= gap.time, now - gap.time < max(pause, Self.proofPause(after: 0)) {
        return false
      }
      gap = Gap(position: position, time: now, pause: Self.proofPause(after: pause))
      return true
    }
    guard isDue, let row = try store?.read({ try $0.replicationRow }) else { return }
    do {
      noteEnd(
        try LogDeadline.$nanoseconds.withValue(deadline) {
          try appendMarker(behind: row, until: deadline)
        })
    } catch is LogFault {
      // Others may append.
    }
  }

  /// The message that does not come, and when one was appended behind it.
  struct Gap {
    let position: UInt64
    let time: Int64
    let pause: Int64
  }
}

/// How long the log is waited for.
extension Replica {
  /// When writes fail that wait for the log: after some time, and those that had to wait for others not much later.
  ///
  /// - Parameter start: When the first of them was queued.
  /// - Returns: The time, in nanoseconds.
  package func deadline(ofWritesSince start: Int64) -> Int64 {
    let now = monotonicNanoseconds()
    guard start < now else { return now + wait }
    return max(now, min(now + wait, start + 2 * wait))
  }

  /// Whether two writes may share a flush: not if the deadline of one that has waited for others is too early for the
  /// other one, which has not.
  package func mayShare(_ start: Int64, with first: Int64) -> Bool {
    let limit = monotonicNanoseconds() - wait
    return (start < limit) == (first < limit)
  }

  /// In nanoseconds: how long a write waits for the log that has not waited for others.
  private var wait: Int64 { Int64(configuration.resendDurationMaximum / .nanoseconds(1)) }

  /// Notes that the log has answered.
  package func noteHeard() { heard.withLock { $0 = ContinuousClock.now } }
}
