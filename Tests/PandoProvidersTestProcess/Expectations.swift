import Glibc
import PandoLMDB

/// Writes a line to standard output at once.
func say(_ line: String) {
  write(line, to: STDOUT_FILENO)
}

/// Says why on standard error and ends the process with status 1.
func fail(_ message: String) -> Never {
  write(message, to: STDERR_FILENO)
  _exit(1)
}

private func write(_ line: String, to descriptor: CInt) {
  let bytes = Array((line + "\n").utf8)
  _ = Glibc.write(descriptor, bytes, bytes.count)
}

/// Ends the process unless something is true.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fail(message()) }
}

/// Ends the process unless `body` throws an error of the engine with a code.
func expectError(_ code: LMDBError.Code, _ body: () throws -> Void) {
  do {
    try body()
    fail("nothing was thrown instead of \(code.rawValue)")
  } catch {
    expect((error as? LMDBError)?.code == code, "\(error)")
  }
}
