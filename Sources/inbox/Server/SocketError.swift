import Glibc

/// A failed call on a socket.
struct SocketError: Error, CustomStringConvertible {
  /// The C function.
  let function: String
  /// Its `errno`.
  let code: Int32

  init(_ function: String, _ code: Int32) {
    self.function = function
    self.code = code
  }

  var description: String {
    // strerror's text is valid until the next call on this thread; it is copied at once.
    unsafe String(cString: strerror(code))
  }
}
