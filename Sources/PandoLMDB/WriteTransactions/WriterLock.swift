import Dispatch
import PandoSystem
import Synchronization

/// Lets one thread of this process write at a time, and knows which one.
///
/// liblmdb has a lock of its own for all processes; this one comes first, because the map may only
/// be changed while no write transaction of the process is open.
final class WriterLock: Sendable {
  private let turn = DispatchSemaphore(value: 1)
  /// The identity of the thread that writes; 0 for none.
  private let owner = Atomic<UInt>(0)

  /// Whether the calling thread is the one that writes.
  var isHeldByThisThread: Bool {
    owner.load(ordering: .relaxed) == currentThread()
  }

  /// Stops the process if the calling thread writes already, and so would wait for itself.
  func checkIsFree(for purpose: StaticString) {
    precondition(
      !isHeldByThisThread,
      "\(purpose) inside a write of the same environment on the same thread: it would wait for itself"
    )
  }

  /// Runs `body` when no other thread writes.
  ///
  /// *Precondition:* the calling thread does not write already: it would wait for itself.
  func withLock<Result>(
    _ purpose: StaticString, _ body: () throws -> Result
  ) rethrows -> Result {
    checkIsFree(for: purpose)
    turn.wait()
    owner.store(currentThread(), ordering: .relaxed)
    defer {
      owner.store(0, ordering: .relaxed)
      turn.signal()
    }
    return try body()
  }

  /// Runs `body` for the thread that has the lock and waits meanwhile.
  func lent<Result>(_ body: () throws -> Result) rethrows -> Result {
    let holder = owner.exchange(currentThread(), ordering: .relaxed)
    defer { owner.store(holder, ordering: .relaxed) }
    return try body()
  }
}
