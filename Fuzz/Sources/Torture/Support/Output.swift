import Glibc

/// Writes a line to standard output at once.
func say(_ line: String) { write(line, to: STDOUT_FILENO) }

/// Writes a line to standard error at once.
func complain(_ line: String) { write(line, to: STDERR_FILENO) }

/// Writes a line to a descriptor with a single call.
func write(_ line: String, to descriptor: CInt) {
  let bytes = Array((line + "\n").utf8)
  _ = Glibc.write(descriptor, bytes, bytes.count)
}
