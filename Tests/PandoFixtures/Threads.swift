import Glibc

/// Runs `body` on several threads of its own and waits for all of them.
///
/// Not `concurrentPerform`: that uses as many threads as there are cores, and bodies that wait for
/// each other would wait for ever.
///
/// - Parameters:
///   - count: How many threads.
///   - body: Gets the thread's number, from 0.
/// - Throws: The first error a body has thrown.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let jobs = (0..<count).map { number in ThreadJob { try body(number) } }
  for job in jobs { job.start() }
  for job in jobs { job.join() }
  for job in jobs { try job.outcome.get() }
}

/// Runs `body` on one thread with a stack of a given size and waits for it.
///
/// - Parameters:
///   - byteCount: The size of the stack.
///   - body: What the thread does.
/// - Throws: What the body throws.
public func onThread(
  stackSizeInBytes byteCount: Int, _ body: @escaping @Sendable () throws -> Void
) throws {
  let job = ThreadJob(body)
  job.start(stackSizeInBytes: byteCount)
  job.join()
  try job.outcome.get()
}

/// One thread and how it ended.
private final class ThreadJob: @unchecked Sendable {
  // Written by the thread, read after `join`.
  private(set) var outcome: Result<Void, any Error> = .success(())
  private let body: @Sendable () throws -> Void
  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () throws -> Void) {
    self.body = body
  }

  func start(stackSizeInBytes: Int? = nil) {
    let context = Unmanaged.passRetained(self).toOpaque()
    // Not a variable: whose initializer it has depends on the modules around.
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    pthread_attr_init(attributes)
    defer {
      pthread_attr_destroy(attributes)
      attributes.deallocate()
    }
    if let stackSizeInBytes { pthread_attr_setstacksize(attributes, stackSizeInBytes) }
    let status = pthread_create(
      &thread, attributes,
      { context in
        guard let context else { return nil }
        let job = Unmanaged<ThreadJob>.fromOpaque(context).takeRetainedValue()
        job.outcome = Result { try job.body() }
        return nil
      }, context)
    precondition(status == 0, "pthread_create: \(status)")
  }

  func join() {
    pthread_join(thread, nil)
  }
}
