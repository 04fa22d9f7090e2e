import PandoSystem

/// What the system says about a failed call.
enum SystemError {
  /// The system's text for a code, for example “No such file or directory”.
  static func text(_ code: Int32) -> String {
    // strerror's buffer is valid until the next call on this thread; it is copied at once.
    unsafe String(cString: strerror(code))
  }
}
