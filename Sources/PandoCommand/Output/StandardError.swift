import PandoSystem

/// Standard error: one line for each error, written at once.
enum StandardError {
  /// Writes a line; nothing can be done when that fails.
  static func line(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    unsafe bytes.withUnsafeBytes { buffer in
      // The bytes live until the call returns.
      _ = unsafe write(STDERR_FILENO, buffer.baseAddress, buffer.count)
    }
  }
}
