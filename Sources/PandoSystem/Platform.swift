// The only file that imports the C library; other files import PandoSystem.

#if canImport(Musl)
  @unsafe @_exported @preconcurrency public import Musl
#else
  @unsafe @_exported @preconcurrency public import Glibc
#endif

/// Makes the C library write `stderr` through a buffer.
///
/// Public because a fuzz target compiles sources of the command; the module is no product.
///
/// - Parameter buffer: The buffer; it must live as long as the process.
public func bufferStandardError(in buffer: UnsafeMutableBufferPointer<CChar>) {
  // `stderr` is a global variable of C; this function does not assign it.
  unsafe setvbuf(stderr, buffer.baseAddress, _IOFBF, buffer.count)
}

/// Makes two connected sockets: a pipe that ``shutDownSocket(_:)`` can end while a forked child has both ends open.
///
/// - Returns: The ends; `nil` with `errno` if the system refuses them.
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

/// Shuts a socket down in both directions, for every process that has it open.
package func shutDownSocket(_ end: CInt) { shutdown(end, CInt(SHUT_RDWR)) }

/// Blocks all signals on the calling thread, except those that a fault raises.
package func blockSignals() {
  var signals = sigset_t()
  unsafe sigfillset(&signals)
  for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] {
    unsafe sigdelset(&signals, fault)
  }
  unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
