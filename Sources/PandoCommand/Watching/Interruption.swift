import PandoSystem

/// The end of a command that runs until SIGINT, SIGTERM, or a closed output.
///
/// The signal handler writes into a pipe, the only thing that it may do. A thread waits for the
/// pipe, and for the reader of standard output to close it. A second signal ends the process.
final class Interruption: Sendable {
  /// The handler's end of the pipe; set before the handler is installed, never changed or closed.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  private struct State {
    var hasCome = false
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  /// The reader's end; the byte stays in the pipe, so that all waits return.
  private let readEnd: Int32

  /// Installs the handler: the first signal no longer ends the process by itself.
  ///
  /// - Parameter endsUnread: Whether closed output is an interruption too.
  /// - Throws: ``CommandError`` if the system has no free descriptor.
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

  /// Cancels a task on interruption, at once if it has happened already.
  func cancels<Success, Failure>(_ task: Task<Success, Failure>) { calls { task.cancel() } }

  /// Calls a closure on interruption, at once if it has happened already.
  func calls(_ end: @escaping @Sendable () -> Void) {
    let hasCome = state.withLock { state in
      state.cancel = end
      return state.hasCome
    }
    if hasCome { end() }
  }

  /// Waits until a descriptor accepts output.
  ///
  /// - Returns: `false` if a signal arrives first.
  func waitsFor(_ descriptor: Int32) -> Bool {
    var polled = [
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
    ]
    while unsafe poll(&polled, 2, -1) < 0, errno == EINTR {}
    return polled[1].revents != 0 || polled[0].revents == 0
  }

  private func wait(for endCount: nfds_t) {
    // The process may have been started with the signals blocked.
    var both = sigset_t()
    // The set outlives the calls.
    unsafe sigemptyset(&both)
    for signal in [SIGINT, SIGTERM] { unsafe sigaddset(&both, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
    var polled = [
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
      // Without events it waits for errors only: for a pipe without a reader.
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
