import Foundation
import Glibc

/// SIGTERM and SIGINT as something to wait for, instead of an end.
///
/// The handler writes the signal's number into a pipe, which is all that a handler may do, and a
/// thread reads it. (A dispatch source would need the signal ignored or blocked, and loses one that
/// comes before it is registered.)
package enum StopSignal {
  /// Where the handler writes; set before the handler is installed, never changed, never closed.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// From now on the signals end nothing by themselves, until the second one comes, which ends the
  /// process.
  ///
  /// - Returns: The number of the first signal, once it has come.
  package static func catchFirst() -> Task<Int32, Never> {
    precondition(unsafe writeEnd < 0, "signals are caught once")
    var ends: [Int32] = [0, 0]
    let status = unsafe pipe(&ends)
    precondition(status == 0, "pipe: \(errno)")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    unsafe writeEnd = ends[1]
    let (numbers, continuation) = AsyncStream.makeStream(of: Int32.self)
    Thread.detachNewThread { [readEnd = ends[0]] in
      // The parent process may have blocked them; one thread that takes them is enough.
      var both = sigset_t()
      // The set lives until the calls return.
      unsafe sigemptyset(&both)
      for number in [SIGTERM, SIGINT] { unsafe sigaddset(&both, number) }
      unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
      var byte: UInt8 = 0
      var count = 0
      while true {
        // One byte fits into the variable, which lives until the call returns.
        guard unsafe read(readEnd, &byte, 1) == 1 else { continue }
        count += 1
        if count == 2 { _exit(128 + Int32(byte)) }
        continuation.yield(Int32(byte))
      }
    }
    for number in [SIGTERM, SIGINT] {
      signal(number) { number in
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        // One byte of a variable that lives until the call returns; `write` may be called here.
        _ = unsafe write(StopSignal.writeEnd, &byte, 1)
        errno = before
      }
    }
    return Task {
      for await number in numbers { return number }
      preconditionFailure("the stream of signals has ended")
    }
  }
}
