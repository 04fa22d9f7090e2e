/// A value that one thread at a time may use; copies of this handle share it.
///
/// It uses a POSIX mutex, because ThreadSanitizer does not see a contended `Synchronization.Mutex` (Swift 6.3 on Linux)
/// and reports false races. Public for inlining (package functions never are inlined), and for sources that the
/// fuzz targets compile again. The module is no product, so users of the package do not see it.
@safe
public struct Locked<Value>: @unchecked Sendable {
  // Sendable because only `withLock` reaches the value.
  @usableFromInline let storage: LockedStorage<Value>

  /// Puts a value behind a lock.
  ///
  /// - Parameter value: The value; the caller keeps no reference to it.
  public init(_ value: sending Value) { storage = LockedStorage.make(value) }

  /// Runs `body` while no other thread uses the value.
  ///
  /// *Precondition:* the calling thread is not inside another call on the same lock.
  ///
  /// - Parameter body: Short; no callbacks, no waiting.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The pointers are valid while the storage lives, which is to the end of this call.
    let (mutex, value) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    defer { extendLifetime(storage) }
    unsafe pthread_mutex_lock(&mutex.pointee.mutex)
    defer { unsafe pthread_mutex_unlock(&mutex.pointee.mutex) }
    return try unsafe body(&value.pointee)
  }
}

/// A mutex; its address never changes.
@usableFromInline
@safe
package struct LockedMutex {
  @usableFromInline var mutex: pthread_mutex_t
}

/// A mutex and the value behind it, in one allocation.
@usableFromInline
package final class LockedStorage<Value>: ManagedBuffer<LockedMutex, Value> {
  static func make(_ value: sending Value) -> LockedStorage {
    let made = create(minimumCapacity: 1) { _ in unsafe LockedMutex(mutex: pthread_mutex_t()) }
    // `create` makes an instance of the class it is called on.
    let storage = unsafe unsafeDowncast(made, to: LockedStorage.self)
    let (mutex, address) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    unsafe pthread_mutex_init(&mutex.pointee.mutex, nil)
    unsafe address.initialize(to: value)
    return storage
  }

  deinit {
    let (mutex, value) = unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    unsafe pthread_mutex_destroy(&mutex.pointee.mutex)
    unsafe value.deinitialize(count: 1)
  }
}

/// A value that one thread at a time may use, and for whose changes threads can wait.
///
/// It uses a POSIX mutex and condition variable, for the reason that ``Locked`` gives.
@safe
package final class Monitor<Value>: @unchecked Sendable {
  // Sendable because the value is only used with the mutex held.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let value: UnsafeMutablePointer<Value>

  /// Puts a value behind a lock.
  ///
  /// - Parameter value: The value; the caller keeps no reference to it.
  package init(_ value: sending Value) {
    unsafe self.value = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe self.value.initialize(to: value)
    unsafe mutex = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
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
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value.pointee)
  }

  /// Waits until `body` has an answer.
  ///
  /// - Parameter body: Called now, and again after ``notify()`` or ``notifyAll()``; runs while no other thread uses the
  ///   value. Returns `nil` to wait on.
  /// - Returns: The result of `body`.
  package func waiting<Result>(for body: (inout Value) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe body(&value.pointee) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Waits until `body` has an answer, and calls it again after a time that it sets.
  ///
  /// - Parameter body: As above; sets after how many nanoseconds it is called again at the latest.
  /// - Returns: The result of `body`.
  package func waiting<Result>(for body: (inout Value, inout Int64?) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      var nanoseconds: Int64?
      if let result = unsafe body(&value.pointee, &nanoseconds) { return result }
      guard let nanoseconds else {
        unsafe pthread_cond_wait(condition, mutex)
        continue
      }
      var end = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &end)
      let sum = Int64(end.tv_nsec) + nanoseconds
      end.tv_sec += Int(sum / 1_000_000_000)
      end.tv_nsec = Int(sum % 1_000_000_000)
      unsafe pthread_cond_timedwait(condition, mutex, &end)
    }
  }

  /// Waits until `body` has an answer, or until a time.
  ///
  /// - Parameters:
  ///   - deadline: The time, by ``monotonicNanoseconds()``.
  ///   - interval: After how many nanoseconds `body` is called again at the latest.
  ///   - body: As above; once more at the deadline.
  /// - Returns: The result of `body`; `nil` at the deadline.
  package func waiting<Result>(
    until deadline: Int64, checkingEach interval: Int64 = .max,
    for body: (inout Value) -> Result?
  ) -> Result? {
    waiting { (value: inout Value, nanoseconds: inout Int64?) -> Result?? in
      if let result = body(&value) { return .some(result) }
      let rest = deadline - monotonicNanoseconds()
      if rest <= 0 { return .some(nil) }
      nanoseconds = min(rest, interval)
      return nil
    }
  }

  /// Wakes one of the waiting threads.
  package func notify() { unsafe pthread_cond_signal(condition) }

  /// Wakes all waiting threads.
  package func notifyAll() { unsafe pthread_cond_broadcast(condition) }
}

/// A lock that many readers or one writer hold at a time.
///
/// It guards no value of its own. Readers see the values that a writer changes together all old or all new.
@safe
package final class ReadWriteLock: @unchecked Sendable {
  // Sendable because POSIX locks serve all threads, and the pointer never changes.
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  /// Makes a lock that is not held.
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
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  package func reading<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_rwlock_rdlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }

  /// Runs `body` while no other thread holds the lock.
  ///
  /// - Parameter body: Short; must not take the lock.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  package func writing<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_rwlock_wrlock(lock)
    defer { unsafe pthread_rwlock_unlock(lock) }
    return try body()
  }

  /// Runs `body` while no other thread holds the lock, unless a thread holds it now.
  ///
  /// - Parameter body: Short; must not take the lock.
  /// - Returns: The result of `body`; `nil` if a thread, also the calling one, holds the lock.
  package func writingIfFree<Result>(_ body: () -> Result) -> Result? {
    guard unsafe pthread_rwlock_trywrlock(lock) == 0 else { return nil }
    defer { unsafe pthread_rwlock_unlock(lock) }
    return body()
  }
}
