import Dispatch
import PandoConsistency
import PandoModels
import PandoSystem
import Synchronization

/// The queue of reads and writes of a custom cache.
///
/// Writes run one after another, in the order of the changes. A read of a key runs after the
/// earlier writes of that key. All calls run on threads of its own, so a cache that blocks them
/// delays no other work.
///
/// - `state` has its own lock; `written` and `hasWaiters` are atomic; `workedOut` belongs to the
///   pipeline.
/// - `written` never exceeds `state.announced`; a write has the number that it got by
///   `announce(_:)`.
final class CacheAccess: @unchecked Sendable {
  // Sendable because `workedOut` is used on the pipeline only, and the rest is synchronized.

  /// A reader that waits until the writes up to a number are done.
  fileprivate struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  fileprivate struct State {
    /// The count of announced writes.
    ///
    /// Each write has the count after its announcement as its number.
    var announced: UInt64 = 0
    /// The number of the last write of each key.
    ///
    /// Writes that are done are removed from time to time.
    var lastWrites: [ByteString: UInt64] = [:]
    var waiters: [Waiter] = []
  }

  private let cache: any CacheDelegate
  private let state = Locked(State())
  /// The count of finished writes, which finish in the order of their announcement.
  private let written = Atomic<UInt64>(0)
  /// Set before a waiter reads ``written`` for the last time, and read after it has grown.
  private let hasWaiters = Atomic(false)
  private let writer = CacheWriter()
  private let questions = CacheQuestions()
  /// Writes whose updates are published, before they are passed to the writer.
  private var workedOut: [CacheWriter.Write?] = []

  init(_ cache: any CacheDelegate) { self.cache = cache }

  deinit { writer.end() }

  /// Announces a write.
  ///
  /// Later reads of its keys wait for it.
  func announce(_ operation: any ManagedOperation) {
    let keys = operation.cacheKeys
    state.withLock { state in
      state.announced += 1
      for key in keys { state.lastWrites[ByteString(key)] = state.announced }
      state.forgetWrites(upTo: written.load(ordering: .relaxed))
    }
  }

  /// Makes later reads of a key wait for all writes announced so far.
  ///
  /// For a write that turns out to change the key after its announcement.
  func delayReads(of cacheKey: String) {
    state.withLock { $0.lastWrites[ByteString(cacheKey)] = $0.announced }
  }

  /// Queues the write that was announced next; on the pipeline.
  ///
  /// - Parameters:
  ///   - operation: The announced operation; `nil` if it has failed, so that there is nothing to
  ///     write.
  ///   - reporter: Receives failures.
  ///   - scope: The pipeline.
  func write(
    _ operation: (any ManagedOperation)?, _ reporter: ManagerReporter, _ scope: PipelineScope
  ) {
    if workedOut.isEmpty { scope.afterwards { self.writer.take(&self.workedOut) } }
    workedOut.append(CacheWriter.Write(access: self, operation: operation, reporter: reporter))
  }

  /// Carries out a write; called by the writer only.
  func carryOut(_ write: CacheWriter.Write) async {
    if let operation = write.operation {
      do {
        try await operation.write(to: cache)
        operation.outcome.finish(.success(nil))
      } catch {
        write.reporter.report(
          .failedWrite(error, of: operation.subjects, context: operation.context))
        operation.outcome.finish(.failure(error))
      }
    }
    finishWrite()
  }

  /// Removes the records of writes, if none is pending.
  func forgetWrites() {
    state.withLock { state in
      if written.load(ordering: .relaxed) == state.announced { state.lastWrites = [:] }
    }
  }

  private func finishWrite() {
    let number = written.add(1, ordering: .sequentiallyConsistent).newValue
    guard hasWaiters.load(ordering: .sequentiallyConsistent) else { return }
    let ready = state.withLock { state in
      let ready = state.waiters.filter { $0.number <= number }
      state.waiters.removeAll { $0.number <= number }
      if state.waiters.isEmpty { hasWaiters.store(false, ordering: .sequentiallyConsistent) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Reads from the cache, after the queued writes of the key.
  ///
  /// - Parameters:
  ///   - cacheKey: The key; `nil` to read after all queued writes.
  ///   - body: Reads from the cache.
  ///   - completion: Called once; never if the cache never answers.
  func read<Value: Sendable>(
    _ cacheKey: String?,
    _ body: @escaping @Sendable (any CacheDelegate) async throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    // Looked up now, so that the read does not wait for writes queued after this call.
    let number = state.withLock { state in
      guard let cacheKey else { return state.announced }
      return state.lastWrites.isEmpty ? 0 : state.lastWrites[ByteString(cacheKey)] ?? 0
    }
    let isWritten = number <= written.load(ordering: .sequentiallyConsistent)
    questions.ask { [self] in
      if !isWritten { await finishedWrites(number) }
      do {
        completion(.success(try await body(cache)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Waits until the writes up to a number are done.
  private func finishedWrites(_ number: UInt64) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        hasWaiters.store(true, ordering: .sequentiallyConsistent)
        if number <= written.load(ordering: .sequentiallyConsistent) { return true }
        state.waiters.append(Waiter(number: number, continuation: continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  /// Waits until all announced writes are done.
  func idle() async { await finishedWrites(state.withLock { $0.announced }) }
}

extension CacheAccess.State {
  /// The maximum count of records kept in addition to those of pending writes.
  private static let keptCountMaximum: UInt64 = 64

  /// Removes the records of finished writes, if they outnumber the pending ones.
  fileprivate mutating func forgetWrites(upTo written: UInt64) {
    guard UInt64(lastWrites.count) > 2 * (announced - written) + Self.keptCountMaximum else {
      return
    }
    lastWrites = lastWrites.filter { $0.value > written }
  }
}

/// Runs tasks on a queue of its own.
final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String, attributes: DispatchQueue.Attributes) {
    queue = DispatchQueue(label: label, attributes: attributes)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
