/// Threads with a large stack that run jobs for all stores of the process.
///
/// A thread without a job ends after ``idleNanoseconds``. So a process with many stores has one thread for each job
/// that runs at the same time, and an idle process has none.
package enum SharedThreads {
  private struct Pool {
    /// The process of the threads; a forked child has none of them.
    var process = getpid()
    /// The threads without a job, in the order in which they finished the last one.
    var idle: [SharedThread] = []
  }

  private static let pool = Locked(Pool())
  /// The time for which an idle thread waits for a job.
  fileprivate static let idleNanoseconds: Int64 = 1_000_000_000

  /// Runs a job on an idle thread or a new one.
  ///
  /// - Parameter job: May block; other jobs run on other threads.
  /// - Returns: 0; or the error number of `pthread_create`, and the job does not run.
  package static func run(_ job: @escaping @Sendable () -> Void) -> CInt {
    let process = getpid()
    let idle = pool.withLock { pool in
      if pool.process != process { pool = Pool() }
      return pool.idle.popLast()
    }
    if let idle {
      idle.give(job)
      return 0
    }
    let thread = SharedThread(job)
    return tryStartingThread(named: "pando.worker", stackSizeInBytes: LargeStack.byteCount) {
      LargeStack.noteCurrent()
      thread.run()
    }
  }

  /// Runs a job on an idle thread or a new one, or on the calling one if the system has no room for a thread.
  package static func runSomewhere(_ job: @escaping @Sendable () -> Void) {
    if run(job) != 0 { job() }
  }

  fileprivate static func rest(_ thread: SharedThread) {
    pool.withLock { $0.idle.append(thread) }
  }

  /// Removes a thread from the idle ones; returns `false` if a caller of `run` has removed it to give it a job.
  fileprivate static func remove(_ thread: SharedThread) -> Bool {
    pool.withLock { pool in
      guard let index = pool.idle.lastIndex(where: { $0 === thread }) else { return false }
      pool.idle.remove(at: index)
      return true
    }
  }
}

/// A thread of ``SharedThreads``.
private final class SharedThread: Sendable {
  private struct Job {
    let body: @Sendable () -> Void
  }

  private let job: Monitor<Job?>

  init(_ job: @escaping @Sendable () -> Void) { self.job = Monitor(Job(body: job)) }

  /// Gives a job to the thread, which has none.
  func give(_ job: @escaping @Sendable () -> Void) {
    self.job.withLock { $0 = Job(body: job) }
    self.job.notify()
  }

  func run() {
    runJob()
    while waitForJob() { runJob() }
  }

  /// Runs the job, and releases it.
  private func runJob() { job.withLock { exchange(&$0, with: nil) }?.body() }

  /// Waits for a job; returns `false` if the thread is to end.
  private func waitForJob() -> Bool {
    SharedThreads.rest(self)
    let end = monotonicNanoseconds() + SharedThreads.idleNanoseconds
    if job.waiting(until: end, for: { $0 == nil ? nil : () }) != nil { return true }
    if SharedThreads.remove(self) { return false }
    job.waiting { $0 == nil ? nil : () }
    return true
  }
}
