/// The calling thread's identity; never 0, and free for another thread when this one has ended.
@inlinable
public func currentThread() -> UInt {
  #if canImport(Musl)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// Starts a thread of its own, which nobody joins.
///
/// - Parameters:
///   - name: What debuggers show, at most 15 bytes; the rest is cut off.
///   - stackSizeInBytes: The size of its stack; `nil` for the system's own.
///   - body: What the thread does.
///
/// *Precondition:* the system has room for one more thread.
package func startThread(
  named name: String, stackSizeInBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
) {
  var attributes = pthread_attr_t()
  unsafe pthread_attr_init(&attributes)
  defer { unsafe pthread_attr_destroy(&attributes) }
  unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  if let stackSizeInBytes { unsafe pthread_attr_setstacksize(&attributes, stackSizeInBytes) }

  let start = unsafe Unmanaged.passRetained(ThreadStart(name, body)).toOpaque()
  #if canImport(Musl)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let status = unsafe pthread_create(
    &thread, &attributes,
    { address in
      // The one reference that was given up above.
      guard let address = unsafe address else { return nil }
      unsafe Unmanaged<ThreadStart>.fromOpaque(address).takeRetainedValue().run()
      return nil
    }, start)
  precondition(status == 0, "pthread_create of \(name): error \(status)")
}

/// What a new thread begins with.
private final class ThreadStart {
  private let name: String
  private let body: @Sendable () -> Void

  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }

  func run() {
    // `pthread_setname_np` is an extension that the modules of the C libraries don't show.
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY)
    if file >= 0 {
      _ = unsafe write(file, name, name.utf8.count)
      close(file)
    }
    body()
  }
}
