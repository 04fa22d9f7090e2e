import Glibc

/// A value that one thread at a time may use.
///
/// A POSIX mutex and not `Synchronization.Mutex`: ThreadSanitizer does not see that one when two
/// threads meet at it (Swift 6.3 on Linux), and reports races that are none.
@safe
package final class Locked<Value>: @unchecked Sendable {
  // Sendable because nobody reaches the value but through `withLock`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // Behind a pointer: the lock already is what exclusivity checking would look for at each use.
  private let value: UnsafeMutablePointer<Value>

  /// Puts a value behind a lock.
  ///
  /// - Parameter value: The value; nobody else may hold on to it.
  package init(_ value: sending Value) {
    unsafe self.value = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe self.value.initialize(to: value)
    unsafe mutex = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  /// Runs `body` while no other thread uses the value.
  ///
  /// *Precondition:* the calling thread is not inside another call on the same lock.
  ///
  /// - Parameter body: Short; no callbacks, no waiting.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value.pointee)
  }
}
