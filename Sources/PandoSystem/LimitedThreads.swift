/// Runs jobs on threads with a large stack, in the order in which they were queued and a limited number at a time.
///
/// The threads are those of ``SharedThreads``: one starts when a job needs it, and takes further jobs until none is
/// left. If the system has no room for a thread, the running ones take the job; without any, the calling one does.
/// A job may block. One that waits for a later job of the same object may wait for ever.
package final class LimitedThreads: Sendable {
  private struct Job {
    /// The number of the task that waits for the job; `nil` if none does.
    let waiter: UInt64?
    let body: @Sendable () -> Void
    let ended: @Sendable () -> Void
  }

  private struct State {
    /// The number of threads that run jobs, or look for one.
    var threadCount = 0
    /// The jobs that wait for a thread; the task of a waiting job may have been cancelled.
    var queue = Deque<Job>()
    var waiters = Waiters<Void>()
  }

  private let state = Locked(State())
  private let threadCountMaximum: Int

  /// Makes an object without threads.
  ///
  /// - Parameter threadCountMaximum: How many jobs run at a time, at least 1.
  package init(atMost threadCountMaximum: Int) {
    precondition(threadCountMaximum >= 1, "\(threadCountMaximum) threads run no job")
    self.threadCountMaximum = threadCountMaximum
  }

  /// The number of tasks whose job waits for a thread.
  package var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// Queues a job.
  ///
  /// - Parameters:
  ///   - body: The job.
  ///   - ended: Called on the same thread after `body` has returned and was released.
  package func submit(
    _ body: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void = {}
  ) {
    state.withLock { $0.queue.append(Job(waiter: nil, body: body, ended: ended)) }
    startThread()
  }

  /// Queues a job, and waits for it without blocking a thread.
  ///
  /// - Parameter body: The job. It runs outside the task: task-local values have their defaults there, and the
  ///   priority of the task does not matter.
  /// - Returns: The result of `body`, which has been released.
  /// - Throws: The error of `body`; `CancellationError` if the task is cancelled before `body` begins, which then
  ///   never runs. A later cancellation has no effect.
  package func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
    try await state.wait(in: \.waiters) { state, number in
      if Task.isCancelled { return .failure(CancellationError()) }
      let job = Job(
        waiter: number,
        body: {
          let result = Swift.Result { try body() }
          outcome.withLock { $0 = result }
        }, ended: {})
      state.queue.append(job)
      return nil
    } whenWaiting: {
      startThread()
    }
    guard let result = outcome.withLock(\.self) else {
      preconditionFailure("a job that ended without a result")
    }
    return try result.get()
  }

  /// Starts a thread if a job waits for one.
  private func startThread() {
    let isNeeded = state.withLock { state in
      guard !state.queue.isEmpty, state.threadCount < threadCountMaximum else { return false }
      state.threadCount += 1
      return true
    }
    guard isNeeded, SharedThreads.run({ self.runJobs() }) != 0 else { return }
    let isAlone = state.withLock { state in
      // Another thread finds the job before it ends.
      guard state.threadCount > 1 else { return true }
      state.threadCount -= 1
      return false
    }
    if isAlone { runJobs() }
  }

  private func runJobs() {
    while let ended = runNext() { ended() }
  }

  /// Runs the first job and releases it.
  ///
  /// - Returns: A closure to call afterwards; `nil` if there is no job, and the calling thread no longer counts.
  private func runNext() -> (@Sendable () -> Void)? {
    let next = state.withLock { state -> (job: Job, waiter: Waiters<Void>.Continuation?)? in
      guard let job = state.queue.popFirst() else {
        state.threadCount -= 1
        return nil
      }
      return (job, job.waiter.flatMap { state.waiters.take($0) })
    }
    guard let (job, waiter) = next else { return nil }
    guard job.waiter != nil else {
      job.body()
      return job.ended
    }
    guard let waiter else { return {} }  // cancelled
    job.body()
    return { waiter.resume() }
  }
}
