import PandoSystem

/// Turns a signal inside a damaged file into an error line and exit status 4.
///
/// A store is a file mapped into memory: where the file is truncated or a page is garbage, reading
/// it can raise SIGBUS or SIGSEGV, or make liblmdb abort. The handler writes a line that was
/// prepared before the store was touched and leaves with `_exit`: both calls are safe inside a
/// signal handler. An open write transaction is simply never committed.
enum SignalLine {
  /// Bytes of the line, and how many; written before the handlers are installed, read by them,
  /// never freed.
  private nonisolated(unsafe) static var line: UnsafeMutableRawPointer?
  private nonisolated(unsafe) static var lineByteCount = 0

  /// The signals that damage can raise.
  private static let signals = [SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTRAP]

  /// Bytes of the stack the handler runs on; a handler on the exhausted stack of the main thread
  /// could not run at all.
  private static let stackByteCount = 64 * 1024

  /// Installs the handlers.
  ///
  /// - Parameters:
  ///   - subject: What is being done, for example `pando get`.
  ///   - path: The store.
  static func prepare(for subject: String, path: String) {
    let error = CommandError(
      .failure, at: path,
      "reading the store's file ended in a signal, so the file is probably damaged",
      remedy: "run: pando verify \(path)")
    let bytes = Array((error.line(for: subject) + "\n").utf8)
    // Copy and stack are never freed: they live until the process ends.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    unsafe copy.copyBytes(from: bytes)
    unsafe line = copy.baseAddress
    unsafe lineByteCount = bytes.count
    var stack = unsafe stack_t(ss_sp: malloc(stackByteCount), ss_flags: 0, ss_size: stackByteCount)
    unsafe sigaltstack(&stack, nil)

    // liblmdb prints a line of its own before it aborts; kept in a buffer it is never seen, and
    // errors stay one line. This command writes its own lines past that buffer.
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 4096)  // never freed
    unsafe bufferStandardError(in: buffer)

    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in
      if let line = unsafe SignalLine.line {
        _ = unsafe write(STDERR_FILENO, line, SignalLine.lineByteCount)
      }
      _exit(ExitCode.failure.rawValue)
    }
    action.sa_flags = Int32(SA_ONSTACK) | Int32(bitPattern: UInt32(SA_RESETHAND))
    for signal in signals { unsafe sigaction(signal, &action, nil) }
  }
}
