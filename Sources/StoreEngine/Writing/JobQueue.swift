import Glibc
import Locking

/// The writes that have a place in the order and have not begun.
final class JobQueue: Sendable {
  /// The most writes that share one flush.
  ///
  /// A bound on what is run again when one of them fails.
  static let writesPerFlushMaximum = 1024

  /// Writes that will share a flush.
  struct Batch: Sendable {
    var jobs: [WriteJob] = []
    let turn = WriteTurn()
  }

  private struct State {
    /// The first one is the next to be flushed.
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
      if state.batches.last.map({ $0.jobs.count >= Self.writesPerFlushMaximum }) ?? true {
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

  /// Takes the writes of the next flush; waits for the first.
  ///
  /// - Parameter expectedCount: How many writes the last flush had. Their callers are just being woken
  ///   and may come back at once; a flush for each handful of them would keep the others waiting for
  ///   the disk. So this gives them the processor as long as that makes the batch larger.
  /// - Returns: `nil` when the queue is empty for good.
  func next(expectedCount: Int) -> Batch? {
    if expectedCount > 1 { gather(expectedCount) }
    return state.waiting { state -> Batch?? in
      if !state.batches.isEmpty {
        state.isWriterIdle = false
        return state.batches.removeFirst()
      }
      if state.isStopping { return .some(nil) }
      state.isWriterIdle = true
      return nil
    }
  }

  /// How often the processor is given away without a new write.
  private static let fruitlessYieldCountMaximum = 4

  private func gather(_ expectedCount: Int) {
    var best = 0
    var fruitlessCount = 0
    while fruitlessCount < Self.fruitlessYieldCountMaximum {
      let count = state.withLock { $0.isStopping ? .max : $0.batches.first?.jobs.count ?? 0 }
      if count >= expectedCount { return }
      fruitlessCount = count > best ? 0 : fruitlessCount + 1
      best = max(best, count)
      sched_yield()
    }
  }
}
