import PandoSystem

/// The writes that have a place in the order and have not begun.
final class JobQueue: Sendable {
  /// The most writes that share one flush.
  ///
  /// A bound on what is run again when one of them fails.
  static let writesPerFlushMaximum = 1024

  /// Writes that share a flush.
  private struct Batch {
    /// Those that the writer has not taken yet.
    var jobs: [WriteJob] = []
    /// How many it has taken.
    var takenCount = 0
    let turn = WriteTurn()

    var count: Int { takenCount + jobs.count }
  }

  private struct State {
    /// The first one is the one that is run, or the next to be.
    var batches: [Batch] = []
    var isStopping = false
    /// Whether the writer waits for the first write.
    var isWriterIdle = false
  }

  private let state = Monitor(State())

  /// Queues a write; its place in the order of commits is fixed when this returns.
  ///
  /// - Returns: What to wait for; `nil` if the queue takes no more writes.
  func append(_ job: WriteJob) -> WriteTurn? {
    let (turn, isWriterIdle) = state.withLock { state -> (WriteTurn?, Bool) in
      if state.isStopping { return (nil, false) }
      if state.batches.last.map({ $0.count >= Self.writesPerFlushMaximum }) ?? true {
        state.batches.append(Batch())
      }
      let last = state.batches.count - 1
      state.batches[last].jobs.append(job)
      defer { state.isWriterIdle = false }
      return (state.batches[last].turn, state.isWriterIdle)
    }
    if isWriterIdle { state.notify() }
    return turn
  }

  /// Takes no more writes; those that are queued stay.
  func stop() {
    state.withLock { $0.isStopping = true }
    state.notify()
  }

  /// Begins the next flush; waits for its first write.
  ///
  /// - Returns: What its callers wait for; `nil` when the queue is empty for good.
  func begin() -> WriteTurn? {
    state.waiting { state -> WriteTurn?? in
      if let first = state.batches.first {
        state.isWriterIdle = false
        return first.turn
      }
      if state.isStopping { return .some(nil) }
      state.isWriterIdle = true
      return nil
    }
  }

  /// How often the processor is given away without a new write.
  private static let fruitlessYieldCountMaximum = 4

  /// Takes more writes for the flush that has begun: it runs them while others are still being queued.
  ///
  /// - Parameters:
  ///   - count: How many it has.
  ///   - expectedCount: How many the last flush had. Their callers are just being woken and may come
  ///     back at once; a flush for each handful of them would keep the others waiting for the disk. So
  ///     this gives them the processor as long as that brings writes.
  /// - Returns: The writes, in their order; none when the flush takes no more. Writes that are queued
  ///   from then on belong to the next one.
  func take(count: Int, expectedCount: Int) -> [WriteJob] {
    var yieldCount = 0
    while true {
      let isLast = count >= expectedCount || yieldCount == Self.fruitlessYieldCountMaximum
      let jobs = state.withLock { state -> [WriteJob]? in
        let jobs = state.batches[0].jobs
        if !jobs.isEmpty {
          state.batches[0].jobs = []
          state.batches[0].takenCount += jobs.count
          return jobs
        }
        guard isLast || state.isStopping else { return nil }
        state.batches.removeFirst()
        return []
      }
      if let jobs { return jobs }
      yieldCount += 1
      sched_yield()
    }
  }
}
