import PandoSystem

/// Standard output: buffered, with errors thrown.
///
/// A reader that went away (`pando ls STORE | head`) is ``Closed``, which ends the run quietly.
/// One thread at a time.
final class StandardOutput {
  /// Nobody reads the output any more.
  struct Closed: Error {}

  /// Bytes kept before they are written: large enough that a system call per write costs nothing.
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

  /// Writes bytes as they are.
  func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= StandardOutput.bufferByteCount { try flush() }
  }

  /// Writes text and a newline.
  func line(_ text: String = "") throws {
    buffer.append(contentsOf: text.utf8)
    try write("\n")
  }

  /// Hands everything written so far to the system.
  func flush() throws {
    var written = 0
    defer { buffer.removeAll(keepingCapacity: true) }
    while written < buffer.count {
      let count = unsafe buffer.withUnsafeBytes { bytes in
        // The rebased part lies within the array, which this closure keeps alive.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
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
