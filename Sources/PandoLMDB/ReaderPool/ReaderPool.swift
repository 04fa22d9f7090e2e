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

  /// As many as liblmdb has slots for readers by default; further readers do with a
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
  /// The lane that a thread had when it last needed another one than before, here or elsewhere.
  private let laneOfThread = ThreadNumber.lane

  init(idleCountMax: Int) {
    keepingLaneCount = min(idleCountMax, Self.laneCount)
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

  /// Takes a transaction that another lane keeps and that nobody uses, with its slot.
  ///
  /// The caller is inside.
  ///
  /// - Returns: The transaction, which is the caller's from now on; `nil` if there is none.
  /// - Complexity: O(*n*) for *n* lanes.
  func takeIdleTransaction() -> OpaquePointer? {
    let now = coarseNanoseconds()
    for lane in 0..<keepingLaneCount where unsafe lanes[lane].take(now) {
      let idle = unsafe lanes[lane].transaction
      unsafe lanes[lane].transaction = nil
      giveBack(lane)
      if let idle = unsafe idle { return unsafe idle }
    }
    return nil
  }

  /// Gives a lane back, and wakes whoever waits for the last reader to leave.
  @inline(__always)
  private func giveBack(_ lane: Int) {
    if lane < Self.laneCount {
      unsafe lanes[lane].giveBack()
    } else {
      state.withLock { _ = $0.overflow.removeValue(forKey: lane) }
    }
    if gate.load(ordering: .sequentiallyConsistent) != Gate.open { signalDrained() }
  }
}

/// Nanoseconds on the monotonic clock, exact to a few milliseconds, for a few nanoseconds of work.
func coarseNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension ReaderPool {
  /// How waiting for the readers ended.
  enum Drain {
    case drained
    case timedOut
  }

  /// Closes the gate, waits for every reader to leave, runs `body`, and opens the gate.
  ///
  /// The caller holds the writer lock, so nobody else closes the gate, and is no reader itself.
  ///
  /// - Parameters:
  ///   - timeoutInSeconds: How long to wait; the gate opens again when the time is up.
  ///   - body: Runs while no reader is inside.
  /// - Returns: `timedOut` if `body` was not run.
  /// - Throws: The error of `body`.
  func whileEmpty(
    timeoutInSeconds: Int, _ body: () throws(LMDBError) -> Void
  ) throws(LMDBError) -> Drain {
    precondition(!isReadingOnThisThread, "a reader waits for itself")
    let semaphore = DispatchSemaphore(value: 0)
    let isEmpty = close(Gate.closed, telling: semaphore)
    defer { openGate() }
    if !isEmpty, semaphore.wait(timeout: .now() + .seconds(timeoutInSeconds)) == .timedOut {
      return .timedOut
    }
    try body()
    return .drained
  }

  /// Closes the gate.
  ///
  /// - Returns: Whether nobody is inside; else the semaphore is signalled when that is so.
  private func close(_ how: UInt8, telling semaphore: DispatchSemaphore) -> Bool {
    state.withLock { state in
      // A reader that took its lane before this is seen below, any other one sees the gate.
      gate.store(how, ordering: .sequentiallyConsistent)
      let isEmpty = activeCount(state) == 0
      state.drained = isEmpty ? nil : semaphore
      return isEmpty
    }
  }

  private func openGate() {
    let waiting = state.withLock { state in
      gate.store(Gate.open, ordering: .sequentiallyConsistent)
      state.drained = nil
      defer { state.waiting = [] }
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }

  /// Wakes whoever waits for the last reader to leave, if that was the last.
  @inline(never)
  func signalDrained() {
    state.withLock { state in
      guard let drained = state.drained, activeCount(state) == 0 else { return }
      state.drained = nil
      drained.signal()
    }
  }

  /// Waits until the gate is opened, if it still is closed.
  ///
  /// - Throws: ``LMDBError`` with code `closed` after the end.
  @inline(never)
  func waitForGate() throws(LMDBError) {
    let semaphore = DispatchSemaphore(value: 0)
    let found = state.withLock { state in
      let found = gate.load(ordering: .sequentiallyConsistent)
      if found == Gate.closed { state.waiting.append(semaphore) }
      return found
    }
    if found == Gate.shutDown { throw LMDBError(.closed, function: "read") }
    if found == Gate.closed { semaphore.wait() }
  }

  /// Refuses new readers and waits for the others to leave.
  ///
  /// - Returns: `false` if that was done before.
  func shutDown() -> Bool {
    if gate.load(ordering: .sequentiallyConsistent) == Gate.shutDown { return false }
    let semaphore = DispatchSemaphore(value: 0)
    if !close(Gate.shutDown, telling: semaphore) { semaphore.wait() }
    return true
  }

  /// Ends the transactions kept for reuse; nobody is inside.
  func abortIdleTransactions() {
    probe.end()
    for lane in 0..<Self.laneCount {
      guard let transaction = unsafe lanes[lane].transaction else { continue }
      unsafe mdb_txn_abort(transaction)
      unsafe lanes[lane].transaction = nil
    }
  }

  /// When the oldest reader inside began, on the coarse clock; `nil` if there is none.
  func oldestStartInNanoseconds() -> UInt64? {
    let others = state.withLock { $0.overflow.values.map(\.start).min() }
    return (0..<Self.laneCount).reduce(into: others) { oldest, lane in
      let start = unsafe lanes[lane].start.load(ordering: .relaxed)
      if start > 0 { oldest = min(oldest ?? start, start) }
    }
  }

  private func activeCount(_ state: State) -> Int {
    (0..<Self.laneCount).reduce(into: state.overflow.count) { count, lane in
      if unsafe lanes[lane].start.load(ordering: .sequentiallyConsistent) > 0 { count += 1 }
    }
  }

  /// How many readers are inside.
  func activeCount() -> Int { state.withLock { activeCount($0) } }
}
