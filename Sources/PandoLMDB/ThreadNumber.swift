import PandoSystem

/// A number that each thread has for itself.
///
/// It is kept in the thread's pointer of a POSIX key: no allocation, no lock.
final class ThreadNumber: Sendable {
  private let key: pthread_key_t

  /// Makes a number that is 0 on every thread.
  ///
  /// - Throws: ``LMDBError`` with `EAGAIN` when the process has used its 1024 keys.
  init() throws(LMDBError) {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    try check(status, "pthread_key_create", "one environment needs one thread-local key")
    self.key = key
  }

  deinit {
    pthread_key_delete(key)
  }

  /// The calling thread's number.
  var value: Int {
    get { Int(bitPattern: unsafe pthread_getspecific(key)) }
    set {
      let status = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue))
      precondition(status == 0, "pthread_setspecific: \(status)")
    }
  }
}
