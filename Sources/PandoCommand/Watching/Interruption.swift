import PandoSystem

/// The end of a command that runs until somebody has had enough: SIGINT, SIGTERM, or output that nobody
/// reads.
///
/// A signal's handler writes into a pipe, which is all that it may do; a thread waits for the pipe, and for
/// the other end of standard output to go away. A second signal ends the process at once.
final class Interruption: Sendable {
  /// Where the handler writes; set before the handler is installed, never changed, never closed.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  private struct State {
    var hasCome = false
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  /// Where the thread hears of a signal; nobody takes the byte out, so that all hear of it.
  private let readEnd: Int32

  /// From now on the first signal ends nothing by itself.
  ///
  /// - Parameter endsUnread: Whether output that nobody reads any more is an end too.
  /// - Throws: ``CommandError`` where the system has no room for it.
  init(endsUnread: Bool = true) throws {
    var ends: [Int32] = [0, 0]
    precondition(unsafe Self.writeEnd < 0, "one a process")
    guard unsafe pipe(&ends) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw CommandError(.failure, "\(reason) (pipe)", remedy: "allow more open files (ulimit -n)")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    unsafe Self.writeEnd = ends[1]
    readEnd = ends[0]
    startThread(named: "pando.interruption") { self.wait(for: endsUnread ? 2 : 1) }
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in
      let before = errno
      var byte: UInt8 = 0
      // One byte of a variable that lives until the call returns; `write` may be called here.
      _ = unsafe write(Interruption.writeEnd, &byte, 1)
      errno = before
    }
    action.sa_flags = Int32(SA_RESTART) | Int32(bitPattern: UInt32(SA_RESETHAND))
    for signal in [SIGINT, SIGTERM] { unsafe sigaction(signal, &action, nil) }
  }

  /// Has a task cancelled by it, at once if it has come already.
  func cancels<Success, Failure>(_ task: Task<Success, Failure>) { calls { task.cancel() } }

  /// Has a closure called by it, at once if it has come already.
  func calls(_ end: @escaping @Sendable () -> Void) {
    let hasCome = state.withLock { state in
      state.cancel = end
      return state.hasCome
    }
    if hasCome { end() }
  }

  /// Waits until something can be written.
  ///
  /// - Returns: `false` if a signal has come first.
  func waitsFor(_ descriptor: Int32) -> Bool {
    var polled = [
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
    ]
    while unsafe poll(&polled, 2, -1) < 0, errno == EINTR {}
    return polled[1].revents != 0 || polled[0].revents == 0
  }

  private func wait(for endCount: nfds_t) {
    // A command that was started with the signals blocked is to end by them too.
    var both = sigset_t()
    // The set lives until the calls return.
    unsafe sigemptyset(&both)
    for signal in [SIGINT, SIGTERM] { unsafe sigaddset(&both, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
    var polled = [
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
      // Without events it waits for errors only: for a pipe that nobody reads any more.
      pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
    ]
    while unsafe poll(&polled, endCount, -1) < 0, errno == EINTR {}
    let cancel = state.withLock { state in
      state.hasCome = true
      return state.cancel
    }
    cancel?()
  }
}
