import PandoSystem
import Synchronization

/// Turns a signal caused by a damaged file into an error line and exit status 4.
///
/// A store is a memory-mapped file. If the file is truncated or damaged, a read can raise SIGBUS or
/// SIGSEGV, or make liblmdb abort. The handler writes a line prepared before the first access, and
/// calls `_exit`: both are safe in a signal handler. An open write transaction is never committed.
enum SignalLine {
  /// A prepared line of a handler; made before the handlers are installed, never freed.
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

  /// The line for signals that a damaged file raises.
  private nonisolated(unsafe) static var damage: Line?
  /// The line for signals with other causes, such as a lack of memory or threads.
  private nonisolated(unsafe) static var failure: Line?
  /// The output of liblmdb, which prints before it aborts over a damaged file.
  private nonisolated(unsafe) static var printed: UnsafeMutableBufferPointer<CChar>?

  /// Whether a handler runs: several threads may get a signal at once, and the first one prints the line.
  private static let isEnding = Atomic(false)

  /// The signals that a damaged file can raise.
  private static let signals = [SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTRAP]

  /// The stack size of the handler in bytes; a handler could not run on the exhausted stack of the
  /// main thread.
  private static let stackByteCount = 64 * 1024

  /// Installs the handlers.
  ///
  /// - Parameters:
  ///   - subject: The operation, for example `pando get`.
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
    // Never freed: the process uses it until its end.
    var stack = unsafe stack_t(ss_sp: malloc(stackByteCount), ss_flags: 0, ss_size: stackByteCount)
    unsafe sigaltstack(&stack, nil)

    // liblmdb prints a line before it aborts. The buffer keeps that line unseen, so that errors are
    // one line. This command writes its own lines past the buffer.
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 4096)  // never freed
    unsafe buffer.initialize(repeating: 0)
    unsafe printed = buffer
    unsafe bufferStandardError(in: buffer)

    // Made now, because a handler must not make it.
    _ = isEnding.load(ordering: .relaxed)
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { signal in
      if SignalLine.isEnding.exchange(true, ordering: .relaxed) { while true { pause() } }
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
    // Without `SA_RESETHAND`, by which a second thread would end the process before the line is printed.
    action.sa_flags = Int32(SA_ONSTACK)
    for signal in signals { unsafe sigaction(signal, &action, nil) }
  }
}
