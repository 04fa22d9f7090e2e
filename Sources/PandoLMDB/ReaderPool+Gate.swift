import CPandoLMDB
import Dispatch
import PandoSystem
import Synchronization

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
  /// - Throws: What `body` throws.
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
  func tellDrained() {
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
