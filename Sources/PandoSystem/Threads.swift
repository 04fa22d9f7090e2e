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
  let status = tryStartingThread(named: name, stackSizeInBytes: stackSizeInBytes, body)
  precondition(status == 0, "pthread_create of \(name): error \(status)")
}

/// Starts a thread, as ``startThread(named:stackSizeInBytes:_:)``, where the system may have no room for it.
///
/// - Returns: 0, or why the system has started none.
package func tryStartingThread(
  named name: String, stackSizeInBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
) -> CInt {
  makeThread(named: name, stackSizeInBytes: stackSizeInBytes, body)
}

/// Starts a thread, and waits for its end if it is to be joined.
///
/// - Returns: 0, or why the system has started none.
private func makeThread(
  named name: String, stackSizeInBytes: Int?, isJoined: Bool = false,
  _ body: @escaping @Sendable () -> Void
) -> CInt {
  var attributes = pthread_attr_t()
  unsafe pthread_attr_init(&attributes)
  defer { unsafe pthread_attr_destroy(&attributes) }
  if !isJoined {
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  }
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
  if status != 0 { unsafe Unmanaged<ThreadStart>.fromOpaque(start).release() }
  guard status == 0, isJoined else { return status }
  #if canImport(Musl)
    if let thread = unsafe thread { unsafe pthread_join(thread, nil) }
  #else
    pthread_join(thread, nil)
  #endif
  return status
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

/// Room for recursions that follow the levels of a tree of models, which may be deep.
///
/// Such a recursion counts its levels. The first ones run on the stack of whoever calls; who comes to
/// level ``firstLevel`` goes on in ``run(_:)`` for ``levelCount`` more. So a shallow tree costs nothing
/// but a comparison, and any thread can go through a deep one.
package enum LargeStack {
  /// Address space; only what is used of it takes memory.
  package static let byteCount = 128 << 20
  /// How many levels one stack is for: 32 KiB each, where a debug build takes a tenth
  /// (docs/design.md, "How deep trees may be").
  package static let levelCount = 4096
  /// How many levels any thread has room for.
  package static let firstLevel = 32

  /// Set on threads that have a large stack; `nil` if the process has used all its keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the calling thread has a large stack.
  package static var isCurrent: Bool { key.map { unsafe pthread_getspecific($0) != nil } ?? false }

  /// Notes that the calling thread has a large stack.
  package static func noteCurrent() {
    // Any address but null.
    if let key { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
  }

  /// Runs a closure on a new thread with a large stack, and waits for it.
  ///
  /// Without room for one more thread it runs on the calling one.
  package static func run(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      // The calling thread waits while the other one runs it.
      nonisolated(unsafe) let body = body
      let status = makeThread(named: "pando.deep", stackSizeInBytes: byteCount, isJoined: true) {
        noteCurrent()
        unsafe body()
      }
      if status != 0 { unsafe body() }
    }
  }
}
