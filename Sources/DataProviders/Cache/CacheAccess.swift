import Dispatch
import Locking
import ModelCore

/// The way to a custom cache: writes one after another in the order of the calls, and reads of a key
/// behind the writes of that key.
///
/// Calls run on threads of its own, so that a cache that blocks them blocks nobody else.
final class CacheAccess: Sendable {
  fileprivate struct State {
    var queue: [(operation: any ManagedOperation, reporter: ManagerReporter)] = []
    var isWriting = false
    /// How many writes of a key are queued, and who waits for them.
    var writes: [ByteString: Int] = [:]
    var readers: [ByteString: [CheckedContinuation<Void, Never>]] = [:]
    var idlers: [CheckedContinuation<Void, Never>] = []
  }

  let cache: any CacheDelegate
  private let state = Locked(State())
  private let writing = QueueExecutor("pando.cache.writing", attributes: [])
  private let reading = QueueExecutor("pando.cache.reading", attributes: .concurrent)

  init(_ cache: any CacheDelegate) { self.cache = cache }

  /// Notes a write that will be queued: who reads its keys from now on waits for it.
  func announce(_ operation: any ManagedOperation) {
    state.withLock { state in
      for key in operation.cacheKeys { state.writes[ByteString(key), default: 0] += 1 }
    }
  }

  /// Ends what ``announce(_:)`` began.
  func withdraw(_ operation: any ManagedOperation) {
    let ready = state.withLock { state in
      operation.cacheKeys.flatMap { state.end(ByteString($0)) }
    }
    for reader in ready { reader.resume() }
  }

  /// Queues a write that was announced.
  func write(_ operation: any ManagedOperation, _ reporter: ManagerReporter) {
    let starts = state.withLock { state in
      state.queue.append((operation, reporter))
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { Task(executorPreference: writing) { await self.drain() } }
  }

  private func drain() async {
    while true {
      let (queue, idlers) = state.withLock { $0.take() }
      for idler in idlers { idler.resume() }
      if queue.isEmpty { return }
      for entry in queue { await write(entry.operation, entry.reporter) }
    }
  }

  private func write(_ operation: any ManagedOperation, _ reporter: ManagerReporter) async {
    do {
      try await operation.write(to: cache)
      operation.outcome.finish(.success(nil))
    } catch {
      reporter.report(.failedWrite(error, of: operation.subjects, context: operation.context))
      operation.outcome.finish(.failure(error))
    }
    withdraw(operation)
  }

  /// Reads, behind the queued writes of the key.
  ///
  /// - Parameters:
  ///   - cacheKey: The key.
  ///   - body: Asks the cache.
  ///   - completion: Called once; never if the cache never answers.
  func read<Value: Sendable>(
    _ cacheKey: String,
    _ body: @escaping @Sendable (any CacheDelegate) async throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    let key = ByteString(cacheKey)
    // Looked up now: writes that are queued after this call are not waited for.
    let waits = state.withLock { $0.writes[key] != nil }
    Task(executorPreference: reading) { [self] in
      if waits { await writes(of: key) }
      do {
        completion(.success(try await body(cache)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  private func writes(of key: ByteString) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.writes[key] == nil { return true }
        state.readers[key, default: []].append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  /// Waits until everything that is queued has been written.
  func idle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.isWriting { state.idlers.append(continuation) }
        return !state.isWriting
      }
      if isIdle { continuation.resume() }
    }
  }
}

extension CacheAccess.State {
  /// Takes what is queued; if that is nothing, takes those who wait for that.
  fileprivate mutating func take() -> (
    queue: [(operation: any ManagedOperation, reporter: ManagerReporter)],
    idlers: [CheckedContinuation<Void, Never>]
  ) {
    let queue = exchange(&queue, with: [])
    isWriting = !queue.isEmpty
    return (queue, queue.isEmpty ? exchange(&idlers, with: []) : [])
  }

  /// Notes that one write of a key is done.
  ///
  /// - Returns: Who waited for it, if it was the last one.
  fileprivate mutating func end(_ key: ByteString) -> [CheckedContinuation<Void, Never>] {
    guard let count = writes[key] else { return [] }
    writes[key] = count > 1 ? count - 1 : nil
    return count > 1 ? [] : readers.removeValue(forKey: key) ?? []
  }
}

/// Runs tasks on a queue of its own.
private final class QueueExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String, attributes: DispatchQueue.Attributes) {
    queue = DispatchQueue(label: label, attributes: attributes)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
