import PandoSystem
import Synchronization

/// Since when a thread of this process waits for the lock of the writer, which another process may have.
///
/// The thread that writes changes it, and one that watches reads it. As long as there is none, a write
/// starts it.
package final class WriterWait: Sendable {
  /// When the wait began; 0 while no thread waits.
  private let start = Atomic<Int64>(0)
  private let number = Atomic<Int>(0)
  private let isAsleep = Atomic(false)
  private let waker = Locked<(@Sendable () -> Void)?>(nil)

  /// How many waits have begun.
  package var count: Int { number.load(ordering: .sequentiallyConsistent) }

  /// For how many nanoseconds a thread waits; `nil` if none does.
  package var nanoseconds: Int64? {
    let start = start.load(ordering: .relaxed)
    return start == 0 ? nil : monotonicNanoseconds() - start
  }

  /// Says that no thread watches until `wake` is called, or that one does.
  package func setAsleep(_ isAsleep: Bool, wake: (@Sendable () -> Void)? = nil) {
    if let wake { waker.withLock { $0 = wake } }
    self.isAsleep.store(isAsleep, ordering: .sequentiallyConsistent)
  }

  /// Notes that a wait begins; one thread at a time.
  func begin() {
    start.store(monotonicNanoseconds(), ordering: .relaxed)
    number.add(1, ordering: .sequentiallyConsistent)
    if isAsleep.load(ordering: .sequentiallyConsistent) { wake() }
  }

  /// Notes that the wait has ended.
  func end() { start.store(0, ordering: .relaxed) }

  @inline(never)
  private func wake() { waker.withLock(\.self)?() }
}
