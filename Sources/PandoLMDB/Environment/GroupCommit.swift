import PandoSystem
import Synchronization

/// A write that shares a commit with others.
package protocol GroupedWrite: AnyObject, Sendable {
  /// Runs the write in the group's transaction, again if the group runs again; the leader calls it.
  ///
  /// - Parameter transaction: The transaction; other writes use it before and after.
  /// - Throws: The error of the write, which is then rolled back. ``GroupEnd`` if the write may not share a commit
  ///   with the writes before it.
  func run(in transaction: UnsafeMutablePointer<WriteTransaction>) throws

  /// Reports the result of the write; called once.
  ///
  /// - Parameter error: The error of the write; `nil` if it is committed.
  func end(_ error: (any Error)?)

  /// Whether the result is known; then ``end(_:)`` follows, even if the group runs again.
  var isDecided: Bool { get }
}

extension GroupedWrite {
  package var isDecided: Bool { false }
}

/// The owner of a group commit; its methods run on the leading thread.
package protocol GroupCommitOwner: AnyObject, Sendable {
  /// Runs the writes of a group.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the group.
  ///   - runWrites: Runs them all.
  /// - Throws: The error of `runWrites`, or the reason why the group can't be committed.
  func runGroup(
    in transaction: UnsafeMutablePointer<WriteTransaction>, _ runWrites: () throws -> Void) throws

  /// Called after the commit of a group, before the results of its writes are reported.
  ///
  /// - Parameters:
  ///   - writeCount: How many writes shared the commit.
  ///   - duration: The duration of its last run, with the flush.
  func didCommit(writeCount: Int, duration: Duration)

  /// Called after a run of a group has failed, before its writes run again or end.
  func didFail()

  /// Called if a write that ran alone was refused, perhaps for lack of room; makes room.
  ///
  /// - Parameters:
  ///   - error: The error of the write.
  ///   - attempt: How often room was made for it before.
  /// - Returns: Whether to try the write again.
  func makeRoom(after error: any Error, attempt: Int) -> Bool

  /// Called after a run has thrown ``GroupDetour``; does the work before the next run.
  ///
  /// - Throws: The error that ends all writes, if no run can follow.
  func settle() throws
}

/// Rolls a group back; it runs again after ``GroupCommitOwner/settle()``.
package struct GroupDetour: Error {
  package init() {}
}

/// Leaves a write that has not run, and the writes behind it, to the next commit of their group.
package struct GroupEnd: Error {
  package init() {}
}

/// The reason why a write is not queued.
package enum GroupRefusal: Error {
  /// The group commit takes no more writes.
  case isStopping
  /// The queue is full.
  case isFull
}

extension GroupCommitOwner {
  package func didFail() {}
  package func makeRoom(after error: any Error, attempt: Int) -> Bool { false }
  package func settle() throws {}
}

/// Group commit: writes that queue during the flush of a commit share the next one, with the writes
/// that queue while they run.
///
/// ```
/// callers   w1 ─┐        w2 ─┐ w3 ─┐ w4 ─┐
/// leader        └─[ w1 │ flush ]──────────┴─[ w2 w3 w4 │ flush ]─ each is answered
/// ```
///
/// One thread leads at a time. It runs all writes of the group in one transaction and commits it.
/// The thread leads group after group until no write is left (``append(_:queuedMaximum:)``,
/// ``goesOnLeading()``), except for a lone caller (``runAlone(in:for:_:)``). Without writes, no
/// thread leads and none waits.
///
/// If a write throws, its group runs again without it. If the transaction or the commit fails, each
/// write gets a commit of its own, so that only the faulty one fails.
package final class GroupCommit: Sendable {
  /// The most writes that share a commit.
  ///
  /// This bounds the repeated work if one of them fails.
  package static let writesPerCommitMaximum = 1024
  /// How often the leader yields the processor without getting a new write.
  private static let fruitlessYieldCountMaximum = 4

  /// The writes that share a commit.
  private struct Batch {
    /// The writes that the leader has not taken yet.
    var writes: [any GroupedWrite] = []
    /// How many the leader has taken.
    var takenCount = 0
    let turn: CommitTurn

    var count: Int { takenCount + writes.count }
  }

  private struct State {
    /// The first batch is running, or runs next.
    var batches: [Batch] = []
    /// Whether a thread leads; if none leads or spins, the queue is empty.
    var hasLeader = false
    /// Whether the last leader spins for the next write; it leads that unless another thread does.
    var isLooking = false
    var isStopping = false
    /// How many writes the last commit had.
    var lastCount = 0

    var queuedCount: Int { batches.reduce(0) { $0 + $1.count } }
  }

  private let state = Monitor(State())
  /// Whether the leader has writes left to begin; changed with the state.
  private let hasWrites = Atomic(false)
  /// How long the last leader spins for the next write.
  private let spinner = Spinner()

  /// Makes a group commit without writes.
  package init() {}

  /// Queues a write; its position in the commit order is fixed on return.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - queuedMaximum: The longest queue, not counting a group whose last write was taken.
  /// - Returns: The turn to wait for; and whether the caller must make a thread lead now, with
  ///   ``commitNext(in:for:)`` while ``goesOnLeading()`` returns `true`.
  /// - Throws: ``GroupRefusal``.
  package func append(
    _ write: any GroupedWrite, queuedMaximum: Int = .max
  ) throws(GroupRefusal) -> (turn: CommitTurn, leads: Bool) {
    try state.withLock { state throws(GroupRefusal) in
      if state.isStopping { throw .isStopping }
      // Checked under the lock: of two callers that check first, one would exceed the limit.
      if queuedMaximum < .max, state.queuedCount >= queuedMaximum { throw .isFull }
      if state.batches.last.map({ $0.count >= Self.writesPerCommitMaximum }) ?? true {
        state.batches.append(Batch(turn: CommitTurn()))
        hasWrites.store(true, ordering: .relaxed)
      }
      let last = state.batches.count - 1
      state.batches[last].writes.append(write)
      let leads = !state.hasLeader && !state.isLooking
      if leads { state.hasLeader = true }
      return (state.batches[last].turn, leads)
    }
  }

  /// The number of queued writes, not counting a group that takes no more.
  package var queuedCount: Int { state.withLock(\.queuedCount) }

  /// Refuses new writes; returns when the queued ones have ended and no thread leads.
  package func stop() {
    state.withLock { $0.isStopping = true }
    state.waiting { $0.hasLeader || $0.isLooking || !$0.batches.isEmpty ? nil : () }
  }

  /// Decides whether the thread that led a group leads the next one; with an empty queue it spins
  /// for a moment.
  ///
  /// - Returns: `false` if it no longer leads.
  package func goesOnLeading() -> Bool {
    let isLooking: Bool? = state.withLock { state in
      if !state.batches.isEmpty { return nil }
      // From here on, a caller may lead.
      state.hasLeader = false
      state.isLooking = !state.isStopping && state.lastCount < 2
      return state.isLooking
    }
    guard let isLooking else { return true }
    var leads = false
    if isLooking {
      _ = spinner.spin { hasWrites.load(ordering: .relaxed) }
      leads = state.withLock { state in
        state.isLooking = false
        let leads = !state.hasLeader && !state.batches.isEmpty
        if leads { state.hasLeader = true }
        return leads
      }
    }
    if !leads { state.notifyAll() }  // `stop()` waits for that
    return leads
  }

  /// The outcome of ``runAlone(in:for:_:)``.
  package enum LoneCommit {
    /// Another thread leads, or the last commit was shared: the caller queues the write.
    case refused
    /// The write has ended.
    case done
    /// The write has ended, and others are queued: the caller makes a thread lead.
    case doneAndLeads
  }

  /// Commits a write on the calling thread if no thread leads, because waking a leader and being
  /// woken costs more than a small commit.
  ///
  /// Writes queued meanwhile share a commit of their own, led by another thread. After a shared
  /// commit this returns `refused`, so that concurrent writes keep sharing.
  ///
  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - owner: The owner of the group commit.
  ///   - makeWrite: Makes the write, once this thread leads.
  /// - Returns: The outcome.
  package func runAlone(
    in environment: Environment, for owner: any GroupCommitOwner,
    _ makeWrite: () -> any GroupedWrite
  ) -> LoneCommit {
    let isAlone = state.withLock { state in
      let isAlone =
        !state.hasLeader && state.batches.isEmpty && !state.isStopping && state.lastCount < 2
      if isAlone { state.hasLeader = true }
      return isAlone
    }
    guard isAlone else { return .refused }
    var group = Group(writes: [makeWrite()], count: 1, expectedCount: 1, isOpen: false)
    commit(&group, in: environment, for: owner)
    let (leads, isStopping) = state.withLock { state in
      // A spinning thread takes the queued writes.
      state.hasLeader = !state.batches.isEmpty && !state.isLooking
      return (state.hasLeader, state.isStopping)
    }
    if isStopping, !leads { state.notifyAll() }
    return leads ? .doneAndLeads : .done
  }
}

extension GroupCommit {
  /// Runs and commits the first batch; all its writes have then ended.
  ///
  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - owner: The owner of the group commit.
  package func commitNext(in environment: Environment, for owner: any GroupCommitOwner) {
    let (turn, lastCount) = state.withLock { ($0.batches[0].turn, $0.lastCount) }
    var group = Group(expectedCount: lastCount)
    commit(&group, in: environment, for: owner)
    state.withLock { $0.lastCount = group.count }
    turn.end()
  }
}

extension GroupCommit {
  /// The writes of one commit; more may join while they run.
  private struct Group {
    /// The writes that have neither failed nor been committed.
    var writes: [any GroupedWrite] = []
    /// How many writes have joined.
    var count = 0
    /// How many writes the last group had.
    ///
    /// Their callers have just been woken and may return at once. A flush for each few of them
    /// would keep the others waiting for the disk. So the leader yields the processor while that
    /// brings writes.
    let expectedCount: Int
    /// Whether more may join from the queue.
    var isOpen = true
    /// Those that wait for another commit.
    var postponed: [any GroupedWrite] = []
  }

  /// A write threw: the group must run again without it.
  private struct SpoiltGroup: Error {
    let index: Int
    let error: any Error
  }

  /// Takes the writes queued meanwhile; if there are none, the batch ends and later writes belong
  /// to the next one.
  ///
  /// - Returns: Whether it took any.
  private func takeMore(_ group: inout Group) -> Bool {
    guard group.isOpen, group.postponed.isEmpty else { return false }
    var yieldCount = 0
    while true {
      let isLast =
        group.count >= group.expectedCount || yieldCount == Self.fruitlessYieldCountMaximum
      let taken = state.withLock { state -> [any GroupedWrite]? in
        let writes = exchange(&state.batches[0].writes, with: [])
        if writes.isEmpty {
          guard isLast || state.isStopping else { return nil }
          state.batches.removeFirst()
          hasWrites.store(!state.batches.isEmpty, ordering: .relaxed)
        } else {
          state.batches[0].takenCount += writes.count
        }
        return writes
      }
      if let taken {
        group.writes += taken
        group.count += taken.count
        group.isOpen = !taken.isEmpty
        return group.isOpen
      }
      yieldCount += 1
      sched_yield()
    }
  }

  /// Takes the writes queued meanwhile, and ends the batch.
  private func takeRest(_ group: inout Group) -> [any GroupedWrite] {
    guard group.isOpen else { return [] }
    group.isOpen = false
    let writes = state.withLock { state in
      defer { hasWrites.store(!state.batches.isEmpty, ordering: .relaxed) }
      return state.batches.removeFirst().writes
    }
    group.count += writes.count
    return writes
  }

  /// Runs writes in one transaction; every write ends, whatever happens.
  private func commit(
    _ group: inout Group, in environment: Environment, for owner: any GroupCommitOwner
  ) {
    var attempt = 0
    while true {
      group.writes += exchange(&group.postponed, with: [])
      guard !group.writes.isEmpty || takeMore(&group) else { return }
      let start = ContinuousClock.now
      do {
        try environment.write { transaction in
          try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
            try unsafe owner.runGroup(in: transaction) { try unsafe run(&group, in: transaction) }
          }
        }
        owner.didCommit(writeCount: group.writes.count, duration: ContinuousClock.now - start)
        for write in group.writes { write.end(nil) }
        if group.postponed.isEmpty { return }
        group.writes = []
      } catch is GroupDetour {
        owner.didFail()
        do {
          try owner.settle()
        } catch {
          for write in group.writes { write.end(error) }
          // Writes that came meanwhile get another attempt.
          group.writes = exchange(&group.postponed, with: []) + takeRest(&group)
        }
        for write in group.writes where write.isDecided { write.end(nil) }
        group.writes.removeAll { $0.isDecided }
      } catch let spoilt as SpoiltGroup {
        owner.didFail()
        group.writes.remove(at: spoilt.index).end(spoilt.error)
      } catch {
        owner.didFail()
        group.writes += exchange(&group.postponed, with: [])
        // Takes the rest of the batch: a leader that could not begin has not taken it yet.
        while takeMore(&group) {}
        if group.writes.count == 1 {
          if owner.makeRoom(after: error, attempt: attempt) {
            attempt += 1
            continue
          }
          group.writes[0].end(error)
        } else {
          // One write may be at fault (too large for the disk, say): each gets a commit of its own.
          for write in group.writes {
            // An earlier one may have decided the result of this one.
            if write.isDecided {
              write.end(nil)
              continue
            }
            var alone = Group(writes: [write], count: 1, expectedCount: 1, isOpen: false)
            commit(&alone, in: environment, for: owner)
          }
        }
        return
      }
    }
  }

  private func run(
    _ group: inout Group, in transaction: UnsafeMutablePointer<WriteTransaction>
  ) throws {
    var index = 0
    while index < group.writes.count || takeMore(&group) {
      do {
        try unsafe group.writes[index].run(in: transaction)
      } catch is GroupEnd where index > 0 {
        group.postponed = Array(group.writes[index...])
        group.writes.removeSubrange(index...)
        return
      } catch {
        // If the transaction failed as a whole, this write is not at fault.
        if unsafe transaction.pointee.failure != nil { throw error }
        throw SpoiltGroup(index: index, error: error)
      }
      index += 1
    }
  }
}

/// A turn of writes that share a commit; their callers wait for its end.
///
/// One broadcast wakes them all; waking each one would cost the leader more than its write.
package final class CommitTurn: Sendable {
  private let isOver = Monitor(false)

  /// Waits until every write of the turn is committed or has failed.
  package func wait() { isOver.waiting { $0 ? () : nil } }

  /// Wakes all waiting callers.
  fileprivate func end() {
    isOver.withLock { $0 = true }
    isOver.notifyAll()
  }
}
