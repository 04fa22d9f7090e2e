import Dispatch
import PandoConsistency
import PandoModels
import PandoSystem
import Synchronization

/// The way to a custom cache: writes one after another in the order of the calls, and reads of a key
/// behind the writes of that key.
///
/// Calls run on threads of its own, so that a cache that blocks them blocks nobody else.
final class CacheAccess: @unchecked Sendable {
  // Sendable because `workedOut` is used on the pipeline only.

  /// Who waits until so many writes are done.
  fileprivate struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  fileprivate struct State {
    /// How many writes have been announced: each has the number that it made of that.
    var announced: UInt64 = 0
    /// The last write of each key; those that are done are left out now and then.
    var lastWrites: [ByteString: UInt64] = [:]
    var waiters: [Waiter] = []
  }

  private let cache: any CacheDelegate
  private let state = Locked(State())
  /// How many writes are done; they are done in the order in which they are announced.
  private let written = Atomic<UInt64>(0)
  /// Set before a waiter looks at ``written`` for the last time, and read after that has grown.
  private let hasWaiters = Atomic(false)
  private let writer = CacheWriter()
  private let questions = CacheQuestions()
  /// Writes whose updates are worked out, until they are handed over.
  private var workedOut: [CacheWriter.Write?] = []

  init(_ cache: any CacheDelegate) { self.cache = cache }

  deinit { writer.end() }

  /// Notes a write that will be queued: who reads its keys from now on waits for it.
  func announce(_ operation: any ManagedOperation) {
    let keys = operation.cacheKeys
    state.withLock { state in
      state.announced += 1
      for key in keys { state.lastWrites[ByteString(key)] = state.announced }
      state.forgetWrites(upTo: written.load(ordering: .relaxed))
    }
  }

  /// Queues the write that was announced next; on the pipeline.
  ///
  /// - Parameters:
  ///   - operation: What was announced; `nil` if it has failed, so that there is nothing to write.
  ///   - reporter: Hears of failures.
  ///   - scope: The pipeline, on which others may follow at once.
  func write(
    _ operation: (any ManagedOperation)?, _ reporter: ManagerReporter, _ scope: PipelineScope
  ) {
    if workedOut.isEmpty { scope.afterwards { self.writer.take(&self.workedOut) } }
    workedOut.append(CacheWriter.Write(access: self, operation: operation, reporter: reporter))
  }

  /// Carries out a write; only the writer does.
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

  /// Forgets the keys of writes, if there is none under way.
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

  /// Reads, behind the queued writes of the key.
  ///
  /// - Parameters:
  ///   - cacheKey: The key; `nil` to read behind all writes.
  ///   - body: Asks the cache.
  ///   - completion: Called once; never if the cache never answers.
  func read<Value: Sendable>(
    _ cacheKey: String?,
    _ body: @escaping @Sendable (any CacheDelegate) async throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    // Looked up now: writes that are queued after this call are not waited for.
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

  /// Waits until so many writes are done.
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

  /// Waits until everything that has been announced has been written.
  func idle() async { await finishedWrites(state.withLock { $0.announced }) }
}

extension CacheAccess.State {
  /// How many keys may be remembered beside those of the writes under way.
  private static let keptCountMaximum: UInt64 = 64

  /// Forgets writes that are done, when they are more than those that are not.
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
