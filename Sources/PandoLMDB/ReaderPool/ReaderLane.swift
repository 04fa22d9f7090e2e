import PandoSystem
import Synchronization

/// A slot for one open read transaction, alone on its cache lines, so that readers on different
/// processors don't wait for each other's.
@safe
struct ReaderLane: ~Copyable {
  /// When the reader inside began, on the coarse monotonic clock; 0 if nobody is inside.
  ///
  /// Whoever turns 0 into something else has the lane until it turns it into 0 again.
  let start = Atomic<UInt64>(0)
  /// The identity of the reader inside; 0 if nobody is inside.
  let owner = Atomic<UInt>(0)
  /// A transaction, reset between uses; `nil` if none is kept.
  ///
  /// Used by the one who has the lane, and by the one who closed the gate while nobody is inside.
  var transaction: OpaquePointer?
  /// Fills two cache lines, which processors fetch together.
  private let rest: InlineArray<13, UInt64> = .init(repeating: 0)

  /// Takes the lane if nobody has it.
  @inline(__always)
  borrowing func take(_ now: UInt64) -> Bool {
    // One order for this and the gate: see `ReaderPool.enter`.
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

/// A number that each thread has for itself.
///
/// It is kept in the thread's pointer of a POSIX key: no allocation, no lock. A process has 1 024 keys, so all
/// environments share one.
final class ThreadNumber: Sendable {
  /// The lane of the calling thread, in whatever environment: where it began to read last, or the first one that
  /// was free when another thread had that.
  static let lane = ThreadNumber()

  /// `nil` if the process has used all its keys: then the number is 0 on every thread.
  private let key: pthread_key_t?

  /// Makes a number that is 0 on every thread.
  private init() {
    var key = pthread_key_t()
    self.key = unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }

  /// The calling thread's number; one that the system has no memory for stays as it is.
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
