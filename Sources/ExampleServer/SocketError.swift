import Glibc

/// A failed call on a socket.
package struct SocketError: Error, CustomStringConvertible {
  /// The C function.
  package let function: String
  /// Its `errno`.
  package let code: Int32

  init(_ function: String, _ code: Int32) {
    self.function = function
    self.code = code
  }

  package var description: String {
    // strerror's text is valid until the next call on this thread; it is copied at once.
    unsafe String(cString: strerror(code))
  }
}
