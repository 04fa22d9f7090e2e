/// A value that one thread at a time may use; copies of this handle share it.
///
/// A POSIX mutex and not `Synchronization.Mutex`: ThreadSanitizer does not see that one when two
/// threads meet at it (Swift 6.3 on Linux), and reports races that are none. Public so that it can be
/// inlined (package functions never are); the module is no product, so nobody outside sees it.
@safe
public struct Locked<Value>: @unchecked Sendable {
  // Sendable because nobody reaches the value but through `withLock`.
  @usableFromInline let storage: LockedStorage<Value>

  /// Puts a value behind a lock.
  ///
  /// - Parameter value: The value; nobody else may hold on to it.
  package init(_ value: sending Value) { storage = LockedStorage.make(value) }

  /// Runs `body` while no other thread uses the value.
  ///
  /// *Precondition:* the calling thread is not inside another call on the same lock.
  ///
  /// - Parameter body: Short; no callbacks, no waiting.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The pointers stay what they are as long as the storage lives, which is to the end of this call.
    let (mutex, value) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    defer { extendLifetime(storage) }
    unsafe pthread_mutex_lock(&mutex.pointee.mutex)
    defer { unsafe pthread_mutex_unlock(&mutex.pointee.mutex) }
    return try unsafe body(&value.pointee)
  }
}

/// A mutex where it stays for its life.
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
    let (mutex, place) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
    unsafe pthread_mutex_init(&mutex.pointee.mutex, nil)
    unsafe place.initialize(to: value)
    return storage
  }

  deinit {
    let (mutex, value) = unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    unsafe pthread_mutex_destroy(&mutex.pointee.mutex)
    unsafe value.deinitialize(count: 1)
  }
}
