import CPandoLMDB
import Dispatch
import PandoSystem
import Synchronization

/// The read transactions of one environment, and the gate they pass.
///
/// The map may move only while no read transaction is open. So a reader enters, and leaves, and
/// while the gate is closed new readers wait. A thread that reads already is let through: the one
/// who closed the gate waits for it anyway.
///
/// Readers take no lock. Each takes a lane, the one its thread had before if it is free, and looks at
/// the gate afterwards; whoever closes the gate looks at the lanes afterwards. All of that has one
/// order, so at least one of the two sees the other.
@safe
final class ReaderPool: Sendable {
  /// Whether readers are let in.
  enum Gate {
    static let open: UInt8 = 0
    static let closed: UInt8 = 1
    static let shutDown: UInt8 = 2
  }

  /// What the lock protects.
  struct State {
    /// Threads that wait for the gate to open.
    var waiting: [DispatchSemaphore] = []
    /// Who waits for the last reader to leave.
    var drained: DispatchSemaphore?
    /// Readers that found no lane, by number.
    var overflow: [Int: Overflow] = [:]
    var lastOverflow = ReaderPool.laneCount
  }

  /// A reader without a lane.
  struct Overflow {
    /// When it began, on the coarse clock.
    let start: UInt64
    /// The thread.
    let owner: UInt
  }

  /// A reader's ticket.
  ///
  /// Sendable because the lane is this reader's alone until it leaves.
  @safe
  struct Ticket: @unchecked Sendable {
    /// The number of the lane; of a reader without one a number that is too high for a lane.
    let lane: Int
    /// A transaction to renew, or `nil` if one has to be begun.
    var transaction: OpaquePointer?
  }

  /// As many as liblmdb has slots for readers unless it is told otherwise; further readers do with a
  /// lock.
  static let laneCount = 1024

  let state = Locked(State())
  /// One of ``Gate``; changed with the lock held.
  let gate = Atomic<UInt8>(Gate.open)
  /// As many as ``laneCount``, freed by `deinit`.
  ///
  /// ``ReaderLane`` says who may use which.
  nonisolated(unsafe) let lanes: UnsafeMutablePointer<ReaderLane>
  /// Asks liblmdb for the last commit.
  let probe = CommitProbe()
  /// The lanes before this one keep their transactions.
  private let keepingLaneCount: Int
  /// The lane that a thread had when it last needed another one than before.
  private let laneOfThread: ThreadNumber

  init(idleCountMax: Int) throws(LMDBError) {
    keepingLaneCount = min(idleCountMax, Self.laneCount)
    laneOfThread = try ThreadNumber()
    unsafe lanes = .allocate(capacity: Self.laneCount)
    for lane in 0..<Self.laneCount { unsafe (lanes + lane).initialize(to: ReaderLane()) }
  }

  deinit {
    unsafe lanes.deinitialize(count: Self.laneCount)
    unsafe lanes.deallocate()
  }

  /// Whether the calling thread is inside a read.
  ///
  /// - Complexity: O(*n*) for *n* lanes.
  var isReadingOnThisThread: Bool { isReadingOnThisThread(besides: nil) }

  private func isReadingOnThisThread(besides other: Int?) -> Bool {
    let thread = currentThread()
    for lane in 0..<Self.laneCount where lane != other {
      if unsafe lanes[lane].owner.load(ordering: .relaxed) == thread { return true }
    }
    return state.withLock { state in
      state.overflow.contains { $0.key != other && $0.value.owner == thread }
    }
  }

  /// Enters; waits while the gate is closed.
  ///
  /// - Throws: ``LMDBError`` with code `closed` after the end.
  @inline(__always)
  func enter() throws(LMDBError) -> Ticket {
    let lane = laneOfThread.value
    if unsafe lanes[lane].take(coarseNanoseconds()) {
      if gate.load(ordering: .sequentiallyConsistent) == Gate.open {
        return unsafe Ticket(lane: lane, transaction: lanes[lane].transaction)
      }
      giveBack(lane)
    }
    return try enterAnyLane()
  }

  @inline(never)
  private func enterAnyLane() throws(LMDBError) -> Ticket {
    while true {
      let lane = takeLane()
      let gate = gate.load(ordering: .sequentiallyConsistent)
      if gate == Gate.open || gate == Gate.closed && isReadingOnThisThread(besides: lane) {
        let transaction = unsafe lane < Self.laneCount ? lanes[lane].transaction : nil
        return unsafe Ticket(lane: lane, transaction: transaction)
      }
      giveBack(lane)
      try waitForGate()
    }
  }

  /// Leaves; the ticket's transaction, which has been reset, is kept for the next reader.
  @inline(__always)
  func leave(_ ticket: Ticket) {
    if ticket.lane < keepingLaneCount {
      unsafe lanes[ticket.lane].transaction = ticket.transaction
      giveBack(ticket.lane)
    } else {
      leaveWithoutKeeping(ticket)
    }
  }

  @inline(never)
  private func leaveWithoutKeeping(_ ticket: Ticket) {
    // Still inside: nobody can close the environment before the transaction is ended.
    if let transaction = unsafe ticket.transaction { unsafe mdb_txn_abort(transaction) }
    if ticket.lane < Self.laneCount { unsafe lanes[ticket.lane].transaction = nil }
    giveBack(ticket.lane)
  }

  /// Takes the first free lane.
  private func takeLane() -> Int {
    let now = coarseNanoseconds()
    // The first ones have been used before and keep transactions.
    for lane in 0..<Self.laneCount where unsafe lanes[lane].start.load(ordering: .relaxed) == 0 {
      if unsafe lanes[lane].take(now) {
        remember(lane)
        return lane
      }
    }
    return state.withLock { state in
      state.lastOverflow += 1
      state.overflow[state.lastOverflow] = Overflow(start: now, owner: currentThread())
      return state.lastOverflow
    }
  }

  /// Lets the thread begin with this lane from now on, unless it has its old one itself.
  private func remember(_ lane: Int) {
    let last = unsafe lanes[laneOfThread.value].owner.load(ordering: .relaxed)
    if last != currentThread() { laneOfThread.value = lane }
  }

  /// Gives a lane back, and wakes whoever waits for the last reader to leave.
  @inline(__always)
  private func giveBack(_ lane: Int) {
    if lane < Self.laneCount {
      unsafe lanes[lane].giveBack()
    } else {
      state.withLock { _ = $0.overflow.removeValue(forKey: lane) }
    }
    if gate.load(ordering: .sequentiallyConsistent) != Gate.open { tellDrained() }
  }
}

/// Nanoseconds on the monotonic clock, exact to a few milliseconds, for a few nanoseconds of work.
func coarseNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
