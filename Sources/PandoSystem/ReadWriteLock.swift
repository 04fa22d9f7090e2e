/// A lock that many readers or one writer hold at a time.
///
/// It guards no value of its own: readers see what the writers of several values publish together.
@safe
package final class ReadWriteLock: @unchecked Sendable {
  // Sendable because POSIX says so of the lock, and the pointer never changes.
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  /// Makes a lock that nobody holds.
  package init() {
    unsafe lock = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe lock.initialize(to: pthread_rwlock_t())
    unsafe pthread_rwlock_init(lock, nil)
  }

  deinit {
    unsafe pthread_rwlock_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs `body` while no writer holds the lock.
  ///
  /// - Parameter body: Must not take the lock for writing.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  package func reading<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_rwlock_rdlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }

  /// Runs `body` while nobody else holds the lock.
  ///
  /// - Parameter body: Short; must not take the lock.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  package func writing<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_rwlock_wrlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }
}
