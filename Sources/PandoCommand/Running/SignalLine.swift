import PandoSystem

/// Turns a signal inside a damaged file into an error line and exit status 4.
///
/// A store is a file mapped into memory: where the file is truncated or a page is garbage, reading
/// it can raise SIGBUS or SIGSEGV, or make liblmdb abort. The handler writes a line that was
/// prepared before the store was touched and leaves with `_exit`: both calls are safe inside a
/// signal handler. An open write transaction is simply never committed.
enum SignalLine {
  /// A line that a handler writes; made before the handlers are installed, never freed.
  @safe private struct Line {
    let bytes: UnsafeMutableRawPointer
    let count: Int

    init(_ error: CommandError, _ subject: String) {
      let text = Array((error.line(for: subject) + "\n").utf8)
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
      unsafe copy.copyBytes(from: text)
      // The text is never empty.
      unsafe bytes = copy.baseAddress.unsafelyUnwrapped
      count = text.count
    }
  }

  /// For signals that a damaged file raises.
  private nonisolated(unsafe) static var damage: Line?
  /// For those that mostly come from elsewhere: Swift and the C library raise them where memory or threads run out.
  private nonisolated(unsafe) static var failure: Line?
  /// What liblmdb has printed; it does so before it aborts over a damaged file.
  private nonisolated(unsafe) static var printed: UnsafeMutableBufferPointer<CChar>?

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
    unsafe damage = Line(error, subject)
    unsafe failure = Line(
      CommandError(
        .failure, at: path, "ended in a signal that the system or this program has raised",
        remedy:
          "allow more memory, threads and open files (ulimit -v, -u, -n); if that is not it: pando verify \(path)"
      ),
      subject)
    // Never freed: it lives until the process ends.
    var stack = unsafe stack_t(ss_sp: malloc(stackByteCount), ss_flags: 0, ss_size: stackByteCount)
    unsafe sigaltstack(&stack, nil)

    // liblmdb prints a line of its own before it aborts; kept in a buffer it is never seen, and
    // errors stay one line. This command writes its own lines past that buffer.
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 4096)  // never freed
    unsafe buffer.initialize(repeating: 0)
    unsafe printed = buffer
    unsafe bufferStandardError(in: buffer)

    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { signal in
      let isDamage =
        switch signal {
        case SIGBUS, SIGSEGV, SIGFPE: true
        case SIGABRT: unsafe SignalLine.printed?[0] ?? 0 != 0
        default: false
        }
      if let line = unsafe isDamage ? SignalLine.damage : SignalLine.failure {
        _ = unsafe write(STDERR_FILENO, line.bytes, line.count)
      }
      _exit(ExitCode.failure.rawValue)
    }
    action.sa_flags = Int32(SA_ONSTACK) | Int32(bitPattern: UInt32(SA_RESETHAND))
    for signal in signals { unsafe sigaction(signal, &action, nil) }
  }
}
