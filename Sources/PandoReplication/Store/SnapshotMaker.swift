import PandoStore
import PandoSystem

/// Puts copies of a store into its log, on a thread of its own.
///
/// Every machine may make a copy. Each checks after a pause of random length, so that two seldom make one at the same
/// time.
final class SnapshotMaker: Sendable {
  private struct State {
    var isEnded = false
    var isOver = false
    var failure: StoreError?
    /// The age of the newest copy, and when it was read.
    var age: (age: Duration, at: ContinuousClock.Instant)?
  }

  private let replica: Replica
  private let path: String
  private let state = Monitor(State())

  init(_ replica: Replica, path: String) {
    (self.replica, self.path) = (replica, path)
  }

  /// The error of the last copy; `nil` if it succeeded.
  var failure: StoreError? { state.withLock(\.failure) }

  /// The age of the newest copy; `nil` if there is none, or the age is not known.
  var age: Duration? {
    state.withLock { $0.age.map { $0.age + (ContinuousClock.now - $0.at) } }
  }

  /// Starts the thread.
  ///
  /// - Parameter isAtOnce: Whether a copy is due immediately: this store has begun the log.
  func start(isAtOnce: Bool) {
    startThread(named: "pando.snapshot") { self.run(isAtOnce) }
  }

  /// Ends the thread after the present copy.
  func stop() {
    state.withLock { $0.isEnded = true }
    state.notifyAll()
  }

  /// Waits until no copy is being made; call ``stop()`` first.
  func waitForEnd() { state.waiting { $0.isOver ? () : nil } }

  private func run(_ isAtOnce: Bool) {
    var pause = isAtOnce ? 0 : Int64.random(in: 0..<Self.interval)
    while wait(pause) {
      pause = Self.interval / 2 + Int64.random(in: 0..<Self.interval)
      var failure: StoreError?
      do {
        try translatingFaults(path) {
          if try replica.needsSnapshot() {
            _ = try replica.putSnapshot { [state] in state.withLock { !$0.isEnded } }
          }
          let age = try replica.log.snapshotAge()
          state.withLock { $0.age = age.map { ($0, ContinuousClock.now) } }
        }
      } catch {
        failure =
          error as? StoreError
          ?? StoreError(.engine, path, "putting a copy into the log", underlying: error)
      }
      let found = failure
      state.withLock { $0.failure = found }
    }
    state.withLock { $0.isOver = true }
    state.notifyAll()
  }

  /// - Returns: `false` at the end.
  private func wait(_ pause: Int64) -> Bool {
    state.waiting(until: monotonicNanoseconds() + pause) { $0.isEnded ? false : nil } ?? true
  }

  /// In nanoseconds: the average time between two checks.
  private static let interval: Int64 = 60_000_000_000
}
