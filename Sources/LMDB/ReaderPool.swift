import CLMDB
import Dispatch
import Glibc
import Locking
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
    /// When readers began that found no lane, by number.
    var overflow: [Int: UInt64] = [:]
    var lastOverflow = ReaderPool.laneCount
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
    /// How many reads the thread was inside before.
    let depth: Int

    /// The same ticket, giving back a transaction that has been reset.
    func holding(_ transaction: OpaquePointer?) -> Ticket {
      unsafe Ticket(lane: lane, transaction: transaction, depth: depth)
    }
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
  private let idleCountMax: Int
  private let thread: ThreadCounter

  init(idleCountMax: Int) throws(LMDBError) {
    self.idleCountMax = idleCountMax
    thread = try ThreadCounter()
    unsafe lanes = .allocate(capacity: Self.laneCount)
    for lane in 0..<Self.laneCount { unsafe (lanes + lane).initialize(to: ReaderLane()) }
  }

  deinit {
    unsafe lanes.deinitialize(count: Self.laneCount)
    unsafe lanes.deallocate()
  }

  /// Whether the calling thread is inside a read.
  var isReadingOnThisThread: Bool { ThreadPlace(thread.value).depth > 0 }

  /// Enters; waits while the gate is closed.
  ///
  /// - Throws: ``LMDBError`` with code `closed` after the end.
  func enter() throws(LMDBError) -> Ticket {
    let place = ThreadPlace(thread.value)
    while true {
      let now = coarseNanoseconds()
      let lane = takeLane(near: place.lane, now)
      let gate = gate.load(ordering: .sequentiallyConsistent)
      if gate == Gate.open || gate == Gate.closed && place.depth > 0 {
        thread.value = ThreadPlace(depth: place.depth + 1, lane: lane).value
        let transaction = unsafe lane < Self.laneCount ? lanes[lane].transaction : nil
        return unsafe Ticket(lane: lane, transaction: transaction, depth: place.depth)
      }
      giveBack(lane)
      try waitForGate()
    }
  }

  /// Leaves; the ticket's transaction, which has been reset, is kept for the next reader.
  func leave(_ ticket: Ticket) {
    thread.value = ThreadPlace(depth: ticket.depth, lane: ticket.lane).value
    var kept = unsafe ticket.transaction
    if ticket.lane >= idleCountMax, let transaction = unsafe kept {
      // Too many are kept. Still inside: nobody can close the environment before this one is ended.
      unsafe mdb_txn_abort(transaction)
      unsafe kept = nil
    }
    if ticket.lane < Self.laneCount { unsafe lanes[ticket.lane].transaction = kept }
    giveBack(ticket.lane)
  }

  /// Takes a free lane, best the one that the thread had before, else the first.
  @inline(__always)
  private func takeLane(near lane: Int, _ now: UInt64) -> Int {
    if lane < Self.laneCount, unsafe lanes[lane].take(now) { return lane }
    return takeOtherLane(now)
  }

  @inline(never)
  private func takeOtherLane(_ now: UInt64) -> Int {
    // The first ones have been used before and keep transactions.
    for lane in 0..<Self.laneCount where unsafe lanes[lane].start.load(ordering: .relaxed) == 0 {
      if unsafe lanes[lane].take(now) { return lane }
    }
    return state.withLock { state in
      state.lastOverflow += 1
      state.overflow[state.lastOverflow] = now
      return state.lastOverflow
    }
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

/// What a thread remembers of its reads: how many it is inside, and the lane of the last one.
private struct ThreadPlace {
  let depth: Int
  let lane: Int

  private static let depthBits = 32

  init(depth: Int, lane: Int) {
    self.depth = depth
    self.lane = lane
  }

  init(_ value: Int) {
    depth = value & (1 << Self.depthBits - 1)
    lane = value >> Self.depthBits
  }

  var value: Int { lane << Self.depthBits | depth }
}

/// Nanoseconds on the monotonic clock, exact to a few milliseconds, for a few nanoseconds of work.
func coarseNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
