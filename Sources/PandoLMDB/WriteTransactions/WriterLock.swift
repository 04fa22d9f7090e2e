import Dispatch
import PandoSystem
import Synchronization

/// A lock for the one writing thread of this process, with the identity of its owner.
///
/// liblmdb has its own lock for all processes. This one comes first, because the map may change
/// only while no write transaction of the process is open.
final class WriterLock: Sendable {
  private let turn = DispatchSemaphore(value: 1)
  /// The identity of the writing thread; 0 for none.
  private let owner = Atomic<UInt>(0)

  /// Whether the calling thread is the writing thread.
  var isHeldByThisThread: Bool {
    owner.load(ordering: .relaxed) == currentThread()
  }

  /// Stops the process if the calling thread already writes and would wait for itself.
  func checkIsFree(for purpose: StaticString) {
    precondition(
      !isHeldByThisThread,
      "\(purpose) inside a write of the same environment on the same thread: it would wait for itself"
    )
  }

  /// Runs `body` while no other thread writes.
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
}
