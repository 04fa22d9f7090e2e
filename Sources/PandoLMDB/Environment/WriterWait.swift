import PandoSystem
import Synchronization

/// The wait of a thread of this process for the writer lock, which another process may hold.
///
/// The writing thread changes it, a watching thread reads it. If no thread watches, a write starts
/// one.
package final class WriterWait: Sendable {
  /// When the wait began; 0 while no thread waits.
  private let start = Atomic<Int64>(0)
  private let number = Atomic<Int>(0)
  private let isAsleep = Atomic(false)
  private let waker = Locked<(@Sendable () -> Void)?>(nil)

  /// How many waits have begun.
  package var count: Int { number.load(ordering: .sequentiallyConsistent) }

  /// How long a thread has waited, in nanoseconds; `nil` if none waits.
  package var nanoseconds: Int64? {
    let start = start.load(ordering: .relaxed)
    return start == 0 ? nil : monotonicNanoseconds() - start
  }

  /// Sets whether no thread watches; then the next wait calls `wake`.
  package func setAsleep(_ isAsleep: Bool, wake: (@Sendable () -> Void)? = nil) {
    if let wake { waker.withLock { $0 = wake } }
    self.isAsleep.store(isAsleep, ordering: .sequentiallyConsistent)
  }

  /// Notes the begin of a wait; one thread at a time.
  func begin() {
    start.store(monotonicNanoseconds(), ordering: .relaxed)
    number.add(1, ordering: .sequentiallyConsistent)
    if isAsleep.load(ordering: .sequentiallyConsistent) { wake() }
  }

  /// Notes the end of the wait.
  func end() { start.store(0, ordering: .relaxed) }

  @inline(never)
  private func wake() { waker.withLock(\.self)?() }
}
