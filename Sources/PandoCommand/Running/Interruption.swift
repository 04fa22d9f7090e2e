import Glibc
import Synchronization

/// Ends long work in order when the person presses Ctrl-C or the system asks the process to end.
///
/// Only work that can say what it keeps watches for it. The first signal is noted, a second one ends
/// the process at once; both leave a whole store, because a transaction is committed or is not.
enum Interruption {
  private static let received = Atomic<Int32>(0)

  /// Begins to note signals, except those that the process was started to ignore.
  static func watch() {
    // The first use is here, so that the handler finds the value ready.
    received.store(0, ordering: .relaxed)
    for signal in [SIGINT, SIGTERM] {
      var old = sigaction()
      unsafe sigaction(signal, nil, &old)
      // A C function pointer is a word; the one that means "ignore" is the number 1.
      let handler = unsafe unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self)
      guard handler != 1 else { continue }
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { signal in
        Interruption.received.store(signal, ordering: .relaxed)
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      unsafe sigaction(signal, &action, nil)
    }
  }

  /// Ends the work if a signal was noted.
  ///
  /// - Throws: A ``CommandError`` that says so.
  static func check() throws(CommandError) {
    guard received.load(ordering: .relaxed) != 0 else { return }
    throw CommandError(.failure, "interrupted")
  }

  /// Ends the process by the signal that was noted, so that a shell script ends too.
  static func endProcessIfReceived() {
    let signal = received.load(ordering: .relaxed)
    guard signal != 0 else { return }
    Glibc.signal(signal, SIG_DFL)
    // Threads of a pool block signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(signal)
  }
}
