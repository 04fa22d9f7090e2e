/// Threads with a large stack that work for all stores of the process, one job after another.
///
/// A thread without a job waits ``idleNanoseconds`` for the next one, then it ends: so a process with many
/// stores has as many threads as jobs that run at one time, and one that rests has none.
package enum SharedThreads {
  private struct Pool {
    /// The process that has the threads; a child of it has none of them.
    var process = getpid()
    /// Threads without a job; the last one has rested for the shortest time.
    var idle: [SharedThread] = []
  }

  private static let pool = Locked(Pool())
  /// How long a thread waits for a job.
  fileprivate static let idleNanoseconds: Int64 = 1_000_000_000

  /// Runs a job on a thread that has none, or on a new one.
  ///
  /// - Parameter job: May wait for as long as it likes; others get other threads.
  /// - Returns: 0, or why the system has started no thread: then the job does not run.
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

  /// Runs a job on such a thread; on the calling one, which waits for it, where the system has no room for
  /// one more.
  package static func runSomewhere(_ job: @escaping @Sendable () -> Void) {
    if run(job) != 0 { job() }
  }

  fileprivate static func rest(_ thread: SharedThread) {
    pool.withLock { $0.idle.append(thread) }
  }

  /// Takes a thread out of those that rest.
  ///
  /// - Returns: `false` if somebody has taken it, and is about to give it a job.
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

  /// Gives the thread a job; it has none.
  func give(_ job: @escaping @Sendable () -> Void) {
    self.job.withLock { $0 = Job(body: job) }
    self.job.notify()
  }

  func run() {
    runJob()
    while waitForJob() { runJob() }
  }

  /// Runs the job, and lets go of it.
  private func runJob() { job.withLock { exchange(&$0, with: nil) }?.body() }

  /// - Returns: `false` if there will be none.
  private func waitForJob() -> Bool {
    SharedThreads.rest(self)
    let end = monotonicNanoseconds() + SharedThreads.idleNanoseconds
    let isGiven = job.waiting { job, nanoseconds -> Bool? in
      if job != nil { return true }
      let left = end - monotonicNanoseconds()
      if left <= 0 { return false }
      nanoseconds = left
      return nil
    }
    if isGiven { return true }
    if SharedThreads.remove(self) { return false }
    job.waiting { $0 == nil ? nil : () }
    return true
  }
}
