import PandoSystem

/// Standard output: buffered, with errors thrown.
///
/// A closed pipe (`pando ls STORE | head`) throws ``Closed``, which ends the run without an error.
/// One thread at a time.
final class StandardOutput {
  /// The error of output whose reader has closed the pipe.
  struct Closed: Error {}

  /// The buffer size in bytes: large enough that the cost of system calls is small.
  private static let bufferByteCount = 64 * 1024

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    buffer.reserveCapacity(StandardOutput.bufferByteCount)
  }

  /// Writes text.
  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= StandardOutput.bufferByteCount { try flush() }
  }

  /// Writes bytes unchanged.
  func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= StandardOutput.bufferByteCount { try flush() }
  }

  /// Writes text at once, in parts that do not wait for a reader.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isReady: Waits until a descriptor accepts output; `false` ends the writing like a closed
  ///     pipe.
  /// - Throws: ``Closed``, or a ``CommandError``.
  func write(_ text: String, whenReady isReady: @escaping (Int32) -> Bool) throws {
    buffer.append(contentsOf: text.utf8)
    try flush(whenReady: isReady)
  }

  /// Writes text and a newline.
  func line(_ text: String = "") throws {
    buffer.append(contentsOf: text.utf8)
    try write("\n")
  }

  /// Passes all buffered output to the system.
  func flush() throws { try flush(whenReady: nil) }

  private func flush(whenReady isReady: ((Int32) -> Bool)?) throws {
    var written = 0
    defer { buffer.removeAll(keepingCapacity: true) }
    while written < buffer.count {
      if let isReady, !isReady(descriptor) { throw Closed() }
      // A pipe with room accepts this many bytes.
      let end = isReady == nil ? buffer.count : min(buffer.count, written + Int(PIPE_BUF))
      let count = unsafe buffer.withUnsafeBytes { bytes in
        // The rebased part lies within the array, which outlives this closure.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written..<end])
        return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      if count >= 0 {
        written += count
      } else if errno == EPIPE {
        throw Closed()
      } else if errno != EINTR {
        throw CommandError(
          .failure, at: "standard output", SystemError.text(errno),
          remedy: "the output is not complete")
      }
    }
  }
}

/// Standard error: one line for each error, written at once.
enum StandardError {
  /// Writes a line; a failure is ignored.
  static func line(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    unsafe bytes.withUnsafeBytes { buffer in
      // The bytes outlive the call.
      _ = unsafe write(STDERR_FILENO, buffer.baseAddress, buffer.count)
    }
  }
}

/// The system's text for failed calls.
enum SystemError {
  /// Returns the text for a code, for example “No such file or directory”.
  static func text(_ code: Int32) -> String {
    // strerror's buffer is valid until the next call on this thread; it is copied at once.
    unsafe String(cString: strerror(code))
  }
}

extension String {
  /// The text with control characters written as escapes, so that it stays on one line and
  /// cannot steer a terminal.
  var escapingControlCharacters: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.isControl:
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u{" + digits + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension Unicode.Scalar {
  /// Whether the scalar moves the cursor, ends a line or has no visible form (C0, DEL, C1, line
  /// and paragraph separators).
  fileprivate var isControl: Bool {
    value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
  }
}
