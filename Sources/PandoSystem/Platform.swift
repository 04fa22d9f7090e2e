// The one file that names the C library; whoever needs it imports PandoSystem.

#if canImport(Musl)
  @unsafe @_exported @preconcurrency public import Musl
#else
  @unsafe @_exported @preconcurrency public import Glibc
#endif

/// Collects what the C library's `stderr` is given in a buffer.
///
/// Public because a fuzz target compiles sources of the command; the module is no product.
///
/// - Parameter buffer: The buffer; it has to live as long as the process.
public func bufferStandardError(in buffer: UnsafeMutableBufferPointer<CChar>) {
  // `stderr` is a variable that C leaves open to all; nothing here changes it.
  unsafe setvbuf(stderr, buffer.baseAddress, _IOFBF, buffer.count)
}

/// Makes two sockets that are connected with each other, as a pipe that can be shut down: a forked child that has both
/// ends too keeps nobody waiting.
///
/// - Returns: The ends; `nil` with `errno` if the system has no room for them.
package func connectedSockets() -> (reading: CInt, writing: CInt)? {
  var ends: [CInt] = [0, 0]
  #if canImport(Musl)
    let kind = SOCK_STREAM | SOCK_CLOEXEC
  #else
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  #endif
  guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
  return (ends[0], ends[1])
}

/// Ends the writing to a socket, for both of its sides and all who have it.
package func shutDownSocket(_ end: CInt) { shutdown(end, CInt(SHUT_RDWR)) }

/// Blocks all signals on the calling thread but those that a fault raises.
package func blockSignals() {
  var signals = sigset_t()
  unsafe sigfillset(&signals)
  for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] {
    unsafe sigdelset(&signals, fault)
  }
  unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
