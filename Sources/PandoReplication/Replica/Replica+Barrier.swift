import PandoModels
import PandoStore
import PandoSystem

/// The callers that wait for all messages of the log, and their progress.
///
/// The end that a server names is not reliable: a server that is no longer the leader may return an old one. Only the
/// leader can give a position to an appended message.
struct Barrier {
  /// The number of calls.
  var asked: UInt64 = 0
  /// The last call for which a message was appended, and the position of that message.
  var done: UInt64 = 0
  var position: UInt64 = 0
  /// Whether the present flush has appended a message.
  var isServed = false
  /// The number of appended messages.
  var counter: UInt64 = 0
  /// The last call whose message the log did not accept, and the reason.
  var failure: (number: UInt64, fault: LogFault)?

  /// The last call that needs an appended message; `nil` if there is none.
  var wanted: UInt64? { asked > max(done, failure?.number ?? 0) ? asked : nil }

  /// Whether the message of a call was appended.
  ///
  /// - Throws: ``LogFault`` if the log did not accept one.
  func isDone(_ number: UInt64) throws -> Bool {
    if done >= number { return true }
    if let failure, failure.number >= number { throw failure.fault }
    return false
  }
}

/// The wait for all messages of the log.
extension Replica {
  /// Applies all messages that the log had at the time of the call, from all machines.
  ///
  /// Several callers share one message of the log. It has no writes, and names the history of its store.
  ///
  /// If the log does not accept a message, only the calls that wait for it fail: a machine may follow a log without the
  /// right to append.
  ///
  /// - Throws: `StoreError` `unavailable` if the log does not accept the message, `logLost` if the log is shorter than
  ///   the store; the error that prevents the store from applying the rest.
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

  /// The number of calls of ``passBarrier()``.
  package var barrierCount: UInt64 { barrier.withLock(\.asked) }

  /// Whether a call waits for a message that must be appended before the next flush.
  var needsMarker: Bool {
    barrier.withLock { barrier in
      defer { barrier.isServed = false }
      return barrier.wanted != nil && !barrier.isServed
    }
  }

  /// Appends a message if a call waits for one; runs on the thread that leads the writes.
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
  /// The message is an entry like any other, and names the history of the store. No replica has to judge it, and
  /// earlier versions of the library apply it as well.
  ///
  /// - Parameters:
  ///   - row: The position of the store.
  ///   - deadline: The time at which the call fails.
  /// - Returns: The position of the message.
  /// - Throws: ``StoreError`` `logLost` if that position is before the store's, because the log is shorter;
  ///   ``LogFault``.
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
            "the log ends at position \(position - 1), and the store has applied \(row.position)"))
      } catch LogFault.noAnswer {
        noteInterruption()
        if attempt > 0, monotonicNanoseconds() >= deadline { break }
      }
    }
    throw LogFault.noAnswer
  }
}

/// Messages that the log counts and does not deliver.
extension Replica {
  /// Appends a message after missing ones: if the log has lost them, it delivers the new message without them.
  ///
  /// A slow server may still have them, so the pause between two such messages grows as long as nothing arrives.
  ///
  /// - Parameters:
  ///   - position: The position of the store.
  ///   - deadline: The time at which the call fails.
  /// - Throws: As ``appendMarker(behind:until:)``, except ``LogFault``.
  func proveGap(behind position: UInt64, until deadline: Int64) throws {
    let now = configuration.clock()
    let isDue = gap.withLock { gap -> Bool in
      let pause = gap?.position == position ? gap?.pause ?? 0 : 0
      // The pause also applies to another position, so that a slow server does not receive more of them.
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
      // Other machines may still append.
    }
  }

  /// The missing message, and when a message was appended after it.
  struct Gap {
    let position: UInt64
    let time: Int64
    let pause: Int64
  }
}

/// How long writes wait for the log.
extension Replica {
  /// The time at which writes that wait for the log fail.
  ///
  /// Writes that first waited for other writes fail not much later.
  ///
  /// - Parameter start: The time at which the first of them was queued.
  /// - Returns: The time, in nanoseconds.
  package func deadline(ofWritesSince start: Int64) -> Int64 {
    let now = monotonicNanoseconds()
    guard start < now else { return now + wait }
    return max(now, min(now + wait, start + 2 * wait))
  }

  /// Whether two writes may share a flush: not if one has waited for other writes, so that its deadline is too early
  /// for the other one.
  package func mayShare(_ start: Int64, with first: Int64) -> Bool {
    let limit = monotonicNanoseconds() - wait
    return (start < limit) == (first < limit)
  }

  /// In nanoseconds: how long a write waits for the log if it did not wait for other writes.
  private var wait: Int64 { Int64(configuration.resendDurationMaximum / .nanoseconds(1)) }

  /// Notes that the log has answered.
  package func noteHeard() { heard.withLock { $0 = ContinuousClock.now } }
}
