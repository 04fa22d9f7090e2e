import PandoSystem
import Synchronization

/// A write that shares a commit with others.
///
package protocol GroupedWrite: AnyObject, Sendable {
  /// Runs it in the transaction of its group, again if the group has to run again; the leader calls it.
  ///
  /// - Parameter transaction: The transaction; others use it before and after.
  /// - Throws: What made it fail. What it has changed is taken back.
  func run(in transaction: UnsafeMutablePointer<WriteTransaction>) throws

  /// Answers it, once.
  ///
  /// - Parameter error: Why it has failed; `nil` if it is committed.
  func end(_ error: (any Error)?)

  /// Whether it is known what became of it: then it is answered at once, though its group runs again.
  var isDecided: Bool { get }

  /// Asks its caller, who waits, to lead the group; never called where a thread leads for all.
  func askToLead()

  /// Lets its caller, who waits, carry it out alone, in place of an answer.
  ///
  /// - Returns: `false` if nobody can: then the leader does it.
  func leaveGroup() -> Bool
}

extension GroupedWrite {
  package func askToLead() { preconditionFailure("a thread leads for all") }
  package func leaveGroup() -> Bool { false }
  package var isDecided: Bool { false }
}

/// Whoever has something to do around the writes of a group, on the thread that leads it.
package protocol GroupCommitOwner: AnyObject, Sendable {
  /// Runs the writes of a group.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the group.
  ///   - runWrites: Runs them all.
  /// - Throws: What `runWrites` throws, or why the group can't be committed.
  func runGroup(
    in transaction: UnsafeMutablePointer<WriteTransaction>, _ runWrites: () throws -> Void) throws

  /// A group has been committed; its writes are answered next.
  ///
  /// - Parameters:
  ///   - writeCount: How many writes shared the commit.
  ///   - duration: How long its last run took, with the flush.
  func didCommit(writeCount: Int, duration: Duration)

  /// A run of a group has failed; its writes are run again or answered next.
  func didFail()

  /// A write that ran alone was refused, perhaps for want of room: makes some.
  ///
  /// - Parameters:
  ///   - error: Why it was refused.
  ///   - attempt: How often room was made for it before.
  /// - Returns: Whether it may pass now.
  func makeRoom(after error: any Error, attempt: Int) -> Bool

  /// A run of a group has thrown ``GroupDetour``: does what has to come before the next one.
  ///
  /// - Throws: Why there can't be a next one; all writes get that.
  func settle() throws
}

/// Has a group given up, and run again after its owner has settled what comes before it.
package struct GroupDetour: Error {
  package init() {}
}

/// Why a write is not queued.
package enum GroupRefusal: Error {
  /// No more writes are taken.
  case isStopping
  /// As many are queued as may be.
  case isFull
}

extension GroupCommitOwner {
  package func didFail() {}
  package func makeRoom(after error: any Error, attempt: Int) -> Bool { false }
  package func settle() throws {}
}

/// Group commit: writes that queue while a commit is being flushed share the next one, with those
/// that queue while they run.
///
/// ```
/// callers   w1 ─┐        w2 ─┐ w3 ─┐ w4 ─┐
/// leader        └─[ w1 │ flush ]──────────┴─[ w2 w3 w4 │ flush ]─ each is answered
/// ```
///
/// One thread leads at a time. It runs all writes of the group in one transaction and commits that.
/// Either a thread leads group after group until no write is left (``append(_:queuedMaximum:)``,
/// ``goesOnLeading()``), but for a caller that writes alone (``runAlone(in:for:_:)``), or each group is led by
/// a caller that waits for it (``run(_:in:)``). Without a write nobody leads, and no thread waits.
///
/// A write that throws makes its group run again without it. When the transaction or the commit
/// fails, each write gets a commit of its own, so that only the one at fault fails. Callers who take
/// turns lend nobody their thread: each runs its own closure, in the leader's transaction or, where its
/// group has to go on without it, alone. A group of theirs never waits for a larger map either.
package final class GroupCommit: Sendable {
  /// The most writes that share a commit.
  ///
  /// A bound on what is run again when one of them fails.
  package static let writesPerCommitMaximum = 1024
  /// How often the processor is given away without a new write.
  private static let fruitlessYieldCountMaximum = 4

  /// Writes that share a commit.
  private struct Batch {
    /// Those that the leader has not taken yet.
    var writes: [any GroupedWrite] = []
    /// How many it has taken.
    var takenCount = 0
    let turn: CommitTurn

    var count: Int { takenCount + writes.count }
  }

  private struct State {
    /// The first one is the one that is run, or the next to be.
    var batches: [Batch] = []
    /// Whether a thread leads; without one, and without one that looks, nothing is queued.
    var hasLeader = false
    /// Whether the thread that led last looks for the next write, and leads then unless another one does.
    var isLooking = false
    var isStopping = false
    /// How many writes the last commit had.
    var lastCount = 0

    var queuedCount: Int { batches.reduce(0) { $0 + $1.count } }
  }

  private let state = Monitor(State())
  /// Whether there are writes that the leader has not begun with; changed with the state.
  private let hasWrites = Atomic(false)
  /// How long the thread that led last looks for the next write.
  private let spinner = Spinner()

  /// Makes a group commit without writes.
  package init() {}

  /// Queues a write; its position in the order of commits is fixed when this returns.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - queuedMaximum: How many may be queued, without those of the group whose last write has been taken.
  /// - Returns: What to wait for; and whether the caller sees to it that a thread leads now, with
  ///   ``commitNext(in:for:)`` as long as ``goesOnLeading()`` says so.
  /// - Throws: ``GroupRefusal``.
  package func append(
    _ write: any GroupedWrite, queuedMaximum: Int = .max
  ) throws(GroupRefusal) -> (turn: CommitTurn, leads: Bool) {
    try state.withLock { state throws(GroupRefusal) in
      if state.isStopping { throw .isStopping }
      // Here and not by whoever asks: of two that ask at once, one would enter behind the other.
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

  /// How many writes are queued, without those of a group that takes no more.
  package var queuedCount: Int { state.withLock(\.queuedCount) }

  /// Takes no more writes; returns when those that are queued have been answered and nobody leads.
  package func stop() {
    state.withLock { $0.isStopping = true }
    state.waiting { $0.hasLeader || $0.isLooking || !$0.batches.isEmpty ? nil : () }
  }

  /// Tells the thread that has led a group whether it leads the next one; where nothing is queued it looks for
  /// a moment whether something comes.
  ///
  /// - Returns: `false` if it does not lead any more.
  package func goesOnLeading() -> Bool {
    let isLooking: Bool? = state.withLock { state in
      if !state.batches.isEmpty { return nil }
      // A caller may lead from here on.
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
    if !leads { state.notifyAll() }  // who stops waits for that
    return leads
  }

  /// What became of a write that was to be committed alone.
  package enum LoneCommit {
    /// Somebody else writes: the write is to be queued.
    case refused
    /// The write has been answered.
    case done
    /// The write has been answered, and others have been queued: the caller sees to it that a thread leads.
    case doneAndLeads
  }

  /// Leads the commit of a write on the calling thread, if nobody else writes: to wake a thread that leads,
  /// and to be woken by it, costs more than a small commit.
  ///
  /// What is queued meanwhile is for another thread, and shares a commit of its own. Where the last commit was a
  /// shared one nobody leads, so that many go on sharing.
  ///
  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - owner: What to do around the write.
  ///   - makeWrite: Makes the write, once this thread leads.
  /// - Returns: What became of it.
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
      // A thread that looks takes what is there.
      state.hasLeader = !state.batches.isEmpty && !state.isLooking
      return (state.hasLeader, state.isStopping)
    }
    if isStopping, !leads { state.notifyAll() }
    return leads ? .doneAndLeads : .done
  }
}

extension GroupCommit {
  /// Leads the group of a write of the calling thread, unless somebody else does; returns when the
  /// write has been answered or has left its group.
  func run(_ write: SharedWrite, in environment: Environment) {
    guard let (_, isFirst) = try? append(write) else {
      preconditionFailure("a group that callers lead is never stopped")
    }
    if !isFirst { environment.configuration.onEvent?(.writeQueued) }
    guard isFirst || write.waitToLead() else { return }
    commitNext(in: environment, for: nil)
    // Whoever waits for the next group leads it.
    let next = state.withLock { state in
      state.hasLeader = !state.batches.isEmpty
      return state.batches.first?.writes.first
    }
    next?.askToLead()
  }

  /// Runs and commits the first batch; each of its writes is answered then.
  ///
  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - owner: What to do around the writes.
  package func commitNext(in environment: Environment, for owner: (any GroupCommitOwner)?) {
    let (turn, lastCount) = state.withLock { ($0.batches[0].turn, $0.lastCount) }
    var group = Group(expectedCount: lastCount)
    commit(&group, in: environment, for: owner)
    state.withLock { $0.lastCount = group.count }
    turn.end()
  }
}

extension GroupCommit {
  /// The writes of a commit, which become more while they run.
  private struct Group {
    /// Those that have neither failed nor been committed.
    var writes: [any GroupedWrite] = []
    /// How many there have been.
    var count = 0
    /// How many the last group had.
    ///
    /// Their callers are just being woken and may come back at once; a flush for each handful of them
    /// would keep the others waiting for the disk. So the leader gives them the processor as long as
    /// that brings writes.
    let expectedCount: Int
    /// Whether more may come from the queue.
    var isOpen = true
  }

  /// A write threw: the group must be run again without it.
  private struct SpoiltGroup: Error {
    let index: Int
    let error: any Error
  }

  /// Takes what has been queued meanwhile; if there is nothing the batch ends, and writes that are
  /// queued from then on belong to the next one.
  ///
  /// - Returns: Whether there was something.
  private func takeMore(_ group: inout Group) -> Bool {
    guard group.isOpen else { return false }
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

  /// Takes what has been queued meanwhile, and ends the batch.
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

  /// Runs writes in one transaction; each is answered, whatever happens.
  private func commit(
    _ group: inout Group, in environment: Environment, for owner: (any GroupCommitOwner)?
  ) {
    var attempt = 0
    while !group.writes.isEmpty || takeMore(&group) {
      let start = ContinuousClock.now
      do {
        try environment.writeAlone(mayGrow: owner != nil) { transaction in
          try unsafe withUnsafeMutablePointer(to: &transaction) { transaction in
            guard let owner else { return try unsafe run(&group, in: transaction) }
            try unsafe owner.runGroup(in: transaction) { try unsafe run(&group, in: transaction) }
          }
        }
        owner?.didCommit(writeCount: group.writes.count, duration: ContinuousClock.now - start)
        for write in group.writes { write.end(nil) }
        return
      } catch is GroupDetour {
        owner?.didFail()
        do {
          try owner?.settle()
        } catch {
          for write in group.writes { write.end(error) }
          // Those who have come meanwhile have not waited as long.
          group.writes = takeRest(&group)
        }
        for write in group.writes where write.isDecided { write.end(nil) }
        group.writes.removeAll { $0.isDecided }
      } catch let spoilt as SpoiltGroup {
        owner?.didFail()
        let write = group.writes.remove(at: spoilt.index)
        if !write.leaveGroup() { write.end(spoilt.error) }
      } catch {
        owner?.didFail()
        // No more of them: a leader that can't begin never came to take the rest.
        while takeMore(&group) {}
        group.writes.removeAll { $0.leaveGroup() }
        if group.writes.count == 1 {
          if let owner, owner.makeRoom(after: error, attempt: attempt) {
            attempt += 1
            continue
          }
          group.writes[0].end(error)
        } else {
          // One of them may be at fault (too large for the disk, say): each gets a commit of its own.
          for write in group.writes {
            // With one before it may have come to light what became of this one.
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
      } catch {
        // A transaction that has failed as a whole says nothing about this write.
        if unsafe transaction.pointee.failure != nil { throw error }
        throw SpoiltGroup(index: index, error: error)
      }
      index += 1
    }
  }
}

/// The writes that share a commit, and the callers that wait for its end.
///
/// One broadcast wakes them all: to wake each by itself cost the leader more than its write.
package final class CommitTurn: Sendable {
  private let isOver = Monitor(false)

  /// Waits until every write of the turn is committed or has failed.
  package func wait() { isOver.waiting { $0 ? () : nil } }

  /// Lets all go who wait.
  fileprivate func end() {
    isOver.withLock { $0 = true }
    isOver.notifyAll()
  }
}
