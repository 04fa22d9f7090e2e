/// The identity of the calling thread; never 0, and reused after the thread has ended.
@inlinable
public func currentThread() -> UInt {
  #if canImport(Musl)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// Starts a detached thread.
///
/// - Parameters:
///   - name: The name that debuggers show, cut off after 15 bytes.
///   - stackSizeInBytes: The size of its stack; `nil` for the system's default.
///   - body: Runs on the thread.
///
/// *Precondition:* the system has room for one more thread.
package func startThread(
  named name: String, stackSizeInBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
) {
  let status = tryStartingThread(named: name, stackSizeInBytes: stackSizeInBytes, body)
  precondition(status == 0, "pthread_create of \(name): error \(status)")
}

/// Starts a detached thread, if the system has room for it.
///
/// - Returns: 0, or the error number of `pthread_create`.
package func tryStartingThread(
  named name: String, stackSizeInBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
) -> CInt {
  makeThread(named: name, stackSizeInBytes: stackSizeInBytes, body)
}

/// Starts a thread, and waits for its end if `isJoined`; returns 0 or the error number of `pthread_create`.
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
      // Balances `passRetained`.
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

/// The name and the closure of a new thread.
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

/// Threads with a large stack, for recursions over the levels of a tree of models.
///
/// A recursion counts its levels. The first ``firstLevel`` run on the caller's stack, the next ``levelCount`` in
/// ``run(_:)``. So any thread can walk a deep tree, and a shallow tree costs one comparison.
package enum LargeStack {
  /// The stack size: address space, of which only the used part takes memory.
  package static let byteCount = 128 << 20
  /// The number of levels on one large stack: 32 KiB each, of which a debug build takes a tenth
  /// (docs/design.md, "How deep trees may be").
  package static let levelCount = 4096
  /// The number of levels for which every thread has room.
  package static let firstLevel = 32

  /// A thread-specific value that is set on large stacks; `nil` if the process has used all its keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the calling thread has a large stack.
  package static var isCurrent: Bool { key.map { unsafe pthread_getspecific($0) != nil } ?? false }

  /// Marks the calling thread as one with a large stack.
  package static func noteCurrent() {
    // Any address but null.
    if let key { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
  }

  /// Runs a closure on a new thread with a large stack, and waits for it.
  ///
  /// If the system has no room for a thread, the closure runs on the calling one.
  package static func run(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      // The calling thread waits while the new thread runs the closure.
      nonisolated(unsafe) let body = body
      let status = makeThread(named: "pando.deep", stackSizeInBytes: byteCount, isJoined: true) {
        noteCurrent()
        unsafe body()
      }
      if status != 0 { unsafe body() }
    }
  }
}
