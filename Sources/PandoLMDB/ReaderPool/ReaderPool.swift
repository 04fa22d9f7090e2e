import CPandoLMDB
import Dispatch
import PandoSystem
import Synchronization

/// The read transactions of one environment, and their gate.
///
/// The map may move only while no read transaction is open. So readers enter and leave, and new
/// readers wait while the gate is closed. A thread that already reads may enter, because the thread
/// that closed the gate waits for it anyway.
///
/// Readers take no lock. A reader takes a lane, its thread's last one if free, and then reads the
/// gate. The closing thread sets the gate and then reads the lanes. These operations have one total
/// order, so at least one of the two sees the other.
@safe
final class ReaderPool: Sendable {
  /// The states of the gate.
  enum Gate {
    static let open: UInt8 = 0
    static let closed: UInt8 = 1
    static let shutDown: UInt8 = 2
  }

  /// The state that the lock guards.
  struct State {
    /// Threads that wait for the gate to open.
    var waiting: [DispatchSemaphore] = []
    /// The thread that waits for the last reader to leave.
    var drained: DispatchSemaphore?
    /// Readers without a lane, by number.
    var overflow: [Int: Overflow] = [:]
    var lastOverflow = ReaderPool.laneCount
  }

  /// A reader without a lane.
  struct Overflow {
    /// The start of the read, on the coarse clock.
    let start: UInt64
    /// The thread.
    let owner: UInt
  }

  /// A reader's ticket.
  ///
  /// Sendable because only this reader uses the lane until it leaves.
  @safe
  struct Ticket: @unchecked Sendable {
    /// The number of the lane; a reader without one has a number above all lanes.
    let lane: Int
    /// A transaction to renew; `nil` if the reader has to begin one.
    var transaction: OpaquePointer?
  }

  /// The default number of reader slots in liblmdb; further readers take a lock.
  static let laneCount = 1024

  let state = Locked(State())
  /// One of ``Gate``; changed with the lock held.
  let gate = Atomic<UInt8>(Gate.open)
  /// The lanes, ``laneCount`` of them, freed by `deinit`.
  ///
  /// ``ReaderLane`` defines which thread may use which.
  nonisolated(unsafe) let lanes: UnsafeMutablePointer<ReaderLane>
  /// Finds the last commit through liblmdb.
  let probe = CommitProbe()
  /// The lanes before this one keep their transactions.
  private let keepingLaneCount: Int
  /// The lane that a thread last changed to, in any environment.
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
    // Still inside: no thread can close the environment before the transaction has ended.
    if let transaction = unsafe ticket.transaction { unsafe mdb_txn_abort(transaction) }
    if ticket.lane < Self.laneCount { unsafe lanes[ticket.lane].transaction = nil }
    giveBack(ticket.lane)
  }

  /// Takes the first free lane.
  private func takeLane() -> Int {
    let now = coarseNanoseconds()
    // The first lanes were used before and keep transactions.
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

  /// Makes the thread begin with this lane from now on, unless it holds its old one itself.
  private func remember(_ lane: Int) {
    let last = unsafe lanes[laneOfThread.value].owner.load(ordering: .relaxed)
    if last != currentThread() { laneOfThread.value = lane }
  }

  /// Takes an idle transaction, with its slot, from another lane.
  ///
  /// The caller is inside.
  ///
  /// - Returns: The transaction, which the caller now owns; `nil` if there is none.
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

  /// Gives a lane back, and wakes a thread that waits for the last reader to leave.
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

/// Nanoseconds on the coarse monotonic clock, exact to a few milliseconds; cheap to read.
func coarseNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension ReaderPool {
  /// The outcome of waiting for the readers.
  enum Drain {
    case drained
    case timedOut
  }

  /// Closes the gate, waits for every reader to leave, runs `body`, and opens the gate.
  ///
  /// The caller holds the writer lock, so no other thread closes the gate, and is no reader itself.
  ///
  /// - Parameters:
  ///   - timeoutInSeconds: The longest wait; after it the gate opens again.
  ///   - body: Runs while no reader is inside.
  /// - Returns: `timedOut` if `body` did not run.
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
  /// - Returns: Whether no reader is inside; else the last one to leave signals the semaphore.
  private func close(_ how: UInt8, telling semaphore: DispatchSemaphore) -> Bool {
    state.withLock { state in
      // A reader that took its lane before is counted below; any other one sees the closed gate.
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

  /// Wakes a thread that waits for the last reader to leave, if this was the last.
  @inline(never)
  func signalDrained() {
    state.withLock { state in
      guard let drained = state.drained, activeCount(state) == 0 else { return }
      state.drained = nil
      drained.signal()
    }
  }

  /// Waits until the gate opens, if it is still closed.
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
  /// - Returns: `false` if this happened before.
  func shutDown() -> Bool {
    if gate.load(ordering: .sequentiallyConsistent) == Gate.shutDown { return false }
    let semaphore = DispatchSemaphore(value: 0)
    if !close(Gate.shutDown, telling: semaphore) { semaphore.wait() }
    return true
  }

  /// Ends the transactions kept for reuse; no reader is inside.
  func abortIdleTransactions() {
    probe.end()
    for lane in 0..<Self.laneCount {
      guard let transaction = unsafe lanes[lane].transaction else { continue }
      unsafe mdb_txn_abort(transaction)
      unsafe lanes[lane].transaction = nil
    }
  }

  /// The start of the oldest reader inside, on the coarse clock; `nil` if there is none.
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

  /// The number of readers inside.
  func activeCount() -> Int { state.withLock { activeCount($0) } }
}
