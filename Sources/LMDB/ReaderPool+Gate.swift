import Locking
import CLMDB
import Dispatch

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
    let isEmpty = state.withLock { state in
      state.isGateClosed = true
      if state.activeCount > 0 { state.drained = semaphore }
      return state.activeCount == 0
    }
    defer { openGate() }
    if !isEmpty, semaphore.wait(timeout: .now() + .seconds(timeoutInSeconds)) == .timedOut {
      return .timedOut
    }
    try body()
    return .drained
  }

  private func openGate() {
    let waiting = state.withLock { state in
      state.isGateClosed = false
      state.drained = nil
      defer { state.waiting = [] }
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }

  /// Refuses new readers and waits for the others to leave.
  ///
  /// - Returns: `false` if that was done before.
  func shutDown() -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    let (isFirst, isEmpty) = state.withLock { state in
      defer { state.isShutDown = true }
      if !state.isShutDown, state.activeCount > 0 { state.drained = semaphore }
      return (!state.isShutDown, state.activeCount == 0)
    }
    if isFirst, !isEmpty { semaphore.wait() }
    return isFirst
  }

  /// Ends the transactions kept for reuse; nobody is inside.
  func abortIdleTransactions() {
    state.withLock { state in
      for index in state.slots.indices where state.slots[index].startInNanoseconds == 0 {
        guard let transaction = unsafe state.slots[index].transaction else { continue }
        unsafe mdb_txn_abort(transaction)
        unsafe state.slots[index].transaction = nil
      }
      state.idleCount = 0
    }
  }

  /// When the oldest reader inside began, on the coarse clock; `nil` if there is none.
  func oldestStartInNanoseconds() -> UInt64? {
    state.withLock { state in
      state.slots.lazy.map(\.startInNanoseconds).filter { $0 > 0 }.min()
    }
  }

  /// How many readers are inside.
  func activeCount() -> Int {
    state.withLock { $0.activeCount }
  }
}
