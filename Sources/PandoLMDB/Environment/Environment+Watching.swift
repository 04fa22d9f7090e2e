import CPandoLMDB
import PandoSystem
import Synchronization

extension Environment {
  /// The interval of polling in nanoseconds, used if the thread can't sleep until a commit.
  private static let pollingInterval: Int64 = 10_000_000

  /// Waits until any process has committed after a version.
  ///
  /// ```swift
  /// var seen = try environment.read { $0.transactionID }
  /// while let number = try environment.waitForCommit(after: seen, timeout: .seconds(60)) {
  ///   seen = number
  /// }
  /// ```
  /// Takes no lock and no reader slot. Processes that use Pando wake each other when they commit.
  /// Commits of other LMDB programs are found within a tenth of a second.
  ///
  /// - Parameters:
  ///   - number: The last version that the caller has seen, as in ``Snapshot/transactionID``.
  ///   - timeout: The longest wait.
  /// - Returns: The number of the last commit; `nil` if there was none in time.
  /// - Throws: ``LMDBError`` with code `closed` when the environment is closed.
  /// - Complexity: O(1), and the wait.
  /// - Note: Blocks the calling thread.
  public func waitForCommit(
    after number: UInt64, timeout: Duration
  ) throws(LMDBError) -> UInt64? {
    try waitForCommit(after: number, timeout: timeout, for: .all)
  }

  /// The same for commits of other processes; commits of this one may end the wait, too.
  package func waitForOthersCommit(
    after number: UInt64, timeout: Duration
  ) throws(LMDBError) -> UInt64? {
    try waitForCommit(after: number, timeout: timeout, for: .others)
  }

  /// The reason why waiting polls the file instead of sleeping; `nil` if it sleeps.
  package var pollingReason: String? {
    guard let signal = unsafe signal else { return "the lock file can't be mapped" }
    return signal.obstacle
  }

  private func waitForCommit(
    after number: UInt64, timeout: Duration, for audience: CommitSignal.Audience
  ) throws(LMDBError) -> UInt64? {
    try checkProcess("waitForCommit")
    let end = ContinuousClock.now + timeout
    guard commitWaiters.enter() else { throw LMDBError(.closed, function: "waitForCommit") }
    defer { commitWaiters.leave() }
    while true {
      let last = lastCommit
      if let last, last > number { return last }
      let left = (end - ContinuousClock.now).nanoseconds
      if commitWaiters.isEnding { throw LMDBError(.closed, function: "waitForCommit") }
      if left <= 0 { return nil }
      if let signal = unsafe signal, let last, signal.obstacle == nil {
        let isWoken = signal.sleep(while: last, for: audience, nanoseconds: left)
        if isWoken, audience == .others { commitWaiters.countWake() }
      } else {
        usleep(useconds_t(min(left, Self.pollingInterval) / 1_000 + 1))
      }
    }
  }

  /// How often a commit of another process woke a waiting thread.
  package var wakeCount: Int { commitWaiters.wakeCount }

  /// The number of the last commit; `nil` if the environment is closed or could not be reopened.
  private var lastCommit: UInt64? {
    if let number = unsafe signal?.number { return number }
    return newestTransactionID()
  }

  /// Wakes the waiting threads after a commit of this environment; the writer lock is held.
  ///
  /// - Parameter number: The number of the transaction, which may have changed nothing.
  func didCommit(_ number: UInt64) {
    guard let signal = unsafe signal, let last = signal.number else { return }
    if last >= number {
      signal.wake()
    } else if last < number - 1 {
      // A commit that changes nothing does not advance the number.
      signal.refuse("it says \(last) after commit \(number)")
    }
  }

  /// Compares the number in the lock file with liblmdb's, right after opening.
  func checkSignal() {
    guard let environment = unsafe pointer else { return }
    unsafe signal?.check {
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(environment, &info)
      return UInt64(unsafe info.me_last_txnid)
    }
  }
}

/// The threads that wait for commits of an environment.
final class CommitWaiters: Sendable {
  private let count = Atomic(0)
  private let isOver = Atomic(false)
  private let wakes = Atomic(0)

  var isEnding: Bool { isOver.load(ordering: .sequentiallyConsistent) }

  /// - Returns: `false` after ``end(_:)`` has begun.
  func enter() -> Bool {
    count.add(1, ordering: .sequentiallyConsistent)
    if !isEnding { return true }
    leave()
    return false
  }

  /// How often a commit of another process woke a waiting thread.
  var wakeCount: Int { wakes.load(ordering: .relaxed) }

  func countWake() { wakes.add(1, ordering: .relaxed) }

  func leave() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// Ends all waits, and returns once they have ended.
  func end(_ signal: CommitSignal?) {
    isOver.store(true, ordering: .sequentiallyConsistent)
    while count.load(ordering: .sequentiallyConsistent) > 0 {
      signal?.wakeEverybody()
      // A thread that was about to sleep is woken in the next round.
      usleep(500)
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    return product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }
}
