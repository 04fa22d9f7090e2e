import Foundation

/// The lines of standard input, as they come.
enum StandardInput {
  /// Reads on a thread of its own, because reading waits.
  static var lines: AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }
}

/// Standard output, line by line and at once, into a pipe too.
enum StandardOutput {
  /// Writes a line; a reader that went away does not end the process.
  static func write(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
