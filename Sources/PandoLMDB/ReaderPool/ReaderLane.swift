import PandoSystem
import Synchronization

/// A slot for one open read transaction, alone on its cache lines, so that readers on different
/// processors do not contend.
@safe
struct ReaderLane: ~Copyable {
  /// The start of the reader inside, on the coarse monotonic clock; 0 if the lane is free.
  ///
  /// A thread that changes 0 to another value owns the lane until it sets 0 again.
  let start = Atomic<UInt64>(0)
  /// The thread of the reader inside; 0 if the lane is free.
  let owner = Atomic<UInt>(0)
  /// A transaction, reset between uses; `nil` if none is kept.
  ///
  /// Used by the owner of the lane, or by the thread that closed the gate while the lane is free.
  var transaction: OpaquePointer?
  /// Fills two cache lines, which processors fetch together.
  private let rest: InlineArray<13, UInt64> = .init(repeating: 0)

  /// Takes the lane if it is free.
  @inline(__always)
  borrowing func take(_ now: UInt64) -> Bool {
    // Ordered with the gate: see `ReaderPool.enter`.
    let (isTaken, _) = start.compareExchange(
      expected: 0, desired: now, ordering: .sequentiallyConsistent)
    if isTaken { owner.store(currentThread(), ordering: .relaxed) }
    return isTaken
  }

  @inline(__always)
  borrowing func giveBack() {
    owner.store(0, ordering: .relaxed)
    start.store(0, ordering: .sequentiallyConsistent)
  }
}

/// A thread-local number.
///
/// It lies in the thread's pointer of a POSIX key: no allocation, no lock. A process has 1 024
/// keys, so all environments share one.
final class ThreadNumber: Sendable {
  /// The lane of the calling thread's last read in any environment, or the first free one if
  /// another thread had that.
  static let lane = ThreadNumber()

  /// `nil` if the process has no key left: then the number is 0 on every thread.
  private let key: pthread_key_t?

  /// Makes a number that is 0 on every thread.
  private init() {
    var key = pthread_key_t()
    self.key = unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }

  /// The calling thread's number; it does not change if the system has no memory for it.
  var value: Int {
    get {
      guard let key else { return 0 }
      return Int(bitPattern: unsafe pthread_getspecific(key))
    }
    set {
      if let key { unsafe _ = pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
  }
}
