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

/// How large this process may make files, in bytes; `nil` if nothing limits it (`ulimit -f`).
package func fileSizeLimit() -> UInt64? {
  var limit = rlimit()
  #if canImport(Musl)
    let status = unsafe getrlimit(RLIMIT_FSIZE, &limit)
  #else
    let status = unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  #endif
  guard status == 0, limit.rlim_cur < UInt64(Int64.max) else { return nil }
  return UInt64(limit.rlim_cur)
}
