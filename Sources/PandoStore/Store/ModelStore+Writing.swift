import PandoLMDB
public import PandoModels
import PandoSystem

extension ModelStore {
  /// What a committed write returned, and what it changed.
  ///
  /// ```swift
  /// let commit = try store.commit { try $0.set(Person(id: 7, name: "Ada")) }
  /// print(commit.changeSet?.commitNumber ?? 0, commit.changeSet?.inserted ?? [])
  /// ```
  public struct Commit<Result: Sendable>: Sendable {
    /// What the closure returned.
    public let result: Result
    /// What changed, with its commit number; `nil` if nothing did.
    public let changeSet: ChangeSet?
  }

  /// Changes the store: all of what the closure does is committed, or nothing.
  ///
  /// Blocks until the commit is as durable as the store was opened for. Writes of several threads
  /// that queue at the same time share a flush.
  ///
  /// - Parameters:
  ///   - context: Travels with the change set to everyone who is notified of it.
  ///   - body: Runs on the calling thread if nobody else writes, else on another one. It may run more
  ///     than once (the map grew, a neighbour in the same flush failed), so it must change nothing but the
  ///     transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, and then nothing is written; `LMDBError` when the disk refuses;
  ///   ``StoreError`` `readOnly` or `closed`.
  /// - Complexity: What `body` costs, and one commit for all writes that wait, with the flush that the durability asks
  ///   for.
  /// - Precondition: Not called from inside a write of this store or its commit handler.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @Sendable (inout ModelTransaction) throws -> Result
  ) throws -> Result {
    try commit(context: context, body).result
  }

  /// Changes the store and waits for the commit without blocking a thread.
  ///
  /// - Parameters:
  ///   - context: Travels with the change set to everyone who is notified of it.
  ///   - body: Runs on a thread of the library; else as in the synchronous form.
  /// - Returns: The result of `body`.
  /// - Throws: Same as the synchronous form. A task that is cancelled while it waits still commits.
  /// - Complexity: As the synchronous form; returns when all who follow the store show it.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    try await commit(context: context, body).result
  }

  /// Changes the store like `write(context:_:)` and also tells what changed.
  ///
  /// - Parameters:
  ///   - context: Travels with the change set to everyone who is notified of it.
  ///   - body: Runs on the calling thread or another one, perhaps more than once.
  /// - Returns: The result of `body`, and the change set.
  /// - Throws: The error of `body`; `LMDBError` when the disk refuses; ``StoreError`` `readOnly` or
  ///   `closed`.
  /// - Complexity: As `write(context:_:)`.
  @discardableResult
  public func commit<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @Sendable (inout ModelTransaction) throws -> Result
  ) throws -> Commit<Result> {
    let writer = try requireWriter()
    precondition(!writer.isLeading, "a write inside a write, or inside the commit handler")
    let outcome = WriteOutcome<Result>()
    return try withoutActuallyEscaping(body) { body in
      writer.carryOut(
        WriteJob(context: context, body: { outcome.keep(try body(&$0)) }) { result in
          outcome.finish(result)
        })
      return try outcome.commit()
    }
  }

  /// Changes the store like `write(context:_:)`, and also tells what changed.
  ///
  /// - Parameters:
  ///   - context: Travels with the change set to everyone who is notified of it.
  ///   - body: Runs on a thread of the library, perhaps more than once.
  /// - Returns: The result of `body`, and the change set.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As the synchronous form; returns when all who follow the store show it.
  @discardableResult
  public func commit<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Commit<Result> {
    let writer = try requireWriter()
    let outcome = WriteOutcome<Result>()
    return try await withCheckedThrowingContinuation { continuation in
      writer.submit(
        WriteJob(context: context, body: { outcome.keep(try body(&$0)) }) { result in
          outcome.finish(result)
          // Whoever follows the store shows it when the caller goes on.
          self.feed.afterShown {
            continuation.resume(with: Swift.Result { try outcome.commit() })
          }
        })
    }
  }

  /// Waits until all that is committed is on the disk.
  ///
  /// Of use with a durability below `full`. With `relaxed` a checkpoint begins at once.
  ///
  /// - Throws: `LMDBError` with code `failedFlush`; the store refuses writes from then on.
  /// - Complexity: O(*p*) for *p* pages that are not on the disk yet. With `relaxed` it waits for the write and the
  ///   checkpoint that are under way, too.
  /// - Precondition: Not called from inside a write of this store or its commit handler.
  public func flush() throws {
    precondition(writer?.isLeading != true, "a flush inside a write, or the commit handler")
    try core.environment.flush()
  }

  /// Waits until all that is committed is on the disk.
  ///
  /// The `async` form of the other one: the waiting does not hold a thread of the caller's pool.
  ///
  /// - Throws: Same as the synchronous form.
  /// - Complexity: As the synchronous form, on a thread of its own.
  public func flush() async throws {
    try await withCheckedThrowingContinuation { continuation in
      SharedThreads.runSomewhere { [self] in
        continuation.resume(with: Swift.Result { try core.environment.flush() })
      }
    }
  }

  /// Sets the one closure that is called with every commit of this process.
  ///
  /// - Parameter handler: Called on the thread that ran the write's closure, in commit order, before the
  ///   writer's caller resumes; it delays the writes behind it, so it hands the change set on and returns.
  ///   `nil` removes it.
  public func setCommitHandler(_ handler: (@Sendable (ChangeSet) -> Void)?) {
    writer?.setHandler(handler)
  }

  private func requireWriter() throws -> Writer {
    guard let writer else {
      throw StoreError(.readOnly, path, "the store was opened for reading only")
    }
    return writer
  }
}

/// Brings the result of a write to its caller.
///
/// Sendable because one thread at a time touches it: the writer's, until the caller has waited for the
/// end of the turn; or the caller's alone.
private final class WriteOutcome<Result: Sendable>: @unchecked Sendable {
  private var result: Result?
  private var outcome: Swift.Result<ChangeSet?, any Error>?

  /// Keeps what the closure returned; of several runs the last one counts.
  func keep(_ result: Result) { self.result = result }

  func finish(_ outcome: Swift.Result<ChangeSet?, any Error>) { self.outcome = outcome }

  func commit() throws -> ModelStore.Commit<Result> {
    guard let outcome = outcome.take() else { preconditionFailure("the write has not finished") }
    let changeSet = try outcome.get()
    guard let result = result.take() else { preconditionFailure("a success without a result") }
    return ModelStore.Commit(result: result, changeSet: changeSet)
  }
}

extension ModelStore {
  /// Brings what is committed in this process to those who follow the store.
  package var feed: CommitFeed { core.feed }

  /// Queues a write and returns at once: its position in the order of commits is fixed by then.
  ///
  /// - Parameters:
  ///   - ticket: Comes to the followers with what the write did.
  ///   - context: Travels with the change set.
  ///   - body: Runs on a thread of the library, perhaps more than once.
  ///   - completion: Called once, on that thread after the followers; on the calling thread
  ///     when the store is closed or read-only.
  package func submit(
    ticket: any Sendable, context: (any Sendable)?,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void,
    completion: @escaping @Sendable (Result<ChangeSet?, any Error>) -> Void = { _ in }
  ) {
    guard let writer else {
      return completion(
        .failure(StoreError(.readOnly, path, "the store was opened for reading only")))
    }
    writer.submit(
      WriteJob(ticket: ticket, context: context, body: body, completion: completion))
  }

  /// Has the writes of the store, which is marked as replicated, go through a log from now on.
  ///
  /// - Parameter replicator: What brings them there; retained until the store is closed.
  package func attach(_ replicator: any StoreReplicator) { writer?.attach(replicator) }

  /// Keeps what works for the store as long as the store is open and somebody holds it.
  package func keep(_ companion: any Sendable) { writer?.keep(companion) }

  /// Whether the store was opened for reading only.
  package var isReadOnly: Bool { writer == nil }
}
