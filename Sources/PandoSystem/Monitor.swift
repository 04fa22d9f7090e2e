/// A value that one thread at a time may use, and on whose changes threads can wait.
///
/// A POSIX mutex and condition variable, for the reason that ``Locked`` gives.
@safe
package final class Monitor<Value>: @unchecked Sendable {
  // Sendable because nobody reaches the value but with the mutex held.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
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
    unsafe condition = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  /// Runs `body` while no other thread uses the value.
  ///
  /// *Precondition:* the calling thread is not inside another call on the same monitor.
  ///
  /// - Parameter body: Short; no callbacks, no waiting.
  /// - Returns: What `body` returns.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&value.pointee)
  }

  /// Waits until `body` has an answer.
  ///
  /// - Parameter body: Asked now, and again after each ``notify()`` and ``notifyAll()``; runs while no
  ///   other thread uses the value. Returns `nil` to go on waiting.
  /// - Returns: What `body` returns.
  package func waiting<Result>(for body: (inout Value) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe body(&value.pointee) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Lets one of the waiting threads ask again.
  package func notify() { unsafe pthread_cond_signal(condition) }

  /// Lets all waiting threads ask again.
  package func notifyAll() { unsafe pthread_cond_broadcast(condition) }
}
