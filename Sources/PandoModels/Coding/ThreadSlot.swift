import PandoSystem

/// A place in which each thread keeps one object for its next use.
///
/// It saves allocations where the same work is done again and again; nobody may rely on finding
/// something there. The object is let go when its thread ends.
package struct ThreadSlot<Object: AnyObject>: Sendable {
  /// `nil` if the process has used all its keys: then nothing is ever kept.
  private let key: pthread_key_t?

  /// Makes a place that is empty for all threads.
  package init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { address in
      guard let address = unsafe address else { return }
      unsafe Unmanaged<AnyObject>.fromOpaque(address).release()
    }
    self.key = status == 0 ? key : nil
  }

  /// Takes the object of the calling thread, which then has none.
  ///
  /// - Returns: `nil` if it has none.
  @inline(__always)
  package func take() -> Object? {
    guard let key, let address = unsafe pthread_getspecific(key) else { return nil }
    pthread_setspecific(key, nil)
    // Only `put` stores an address, and with it gives up a retained object.
    return unsafe Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }

  /// Keeps an object for the calling thread, unless it has one.
  ///
  /// - Parameter object: An object that nobody else uses.
  @inline(__always)
  package func put(_ object: Object) {
    guard let key, unsafe pthread_getspecific(key) == nil else { return }
    let address = unsafe Unmanaged.passRetained(object).toOpaque()
    if unsafe pthread_setspecific(key, address) != 0 {
      unsafe Unmanaged<Object>.fromOpaque(address).release()
    }
  }
}

extension ThreadSlot<DecodingSession> {
  static let decoding = ThreadSlot()
}
