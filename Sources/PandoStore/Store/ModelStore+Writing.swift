import PandoLMDB
public import PandoModels
import PandoSystem

extension ModelStore {
  /// Changes the store: either all changes of the closure are committed, or none.
  ///
  /// Blocks until the commit has the configured durability. Concurrent writes of several threads
  /// share a flush.
  ///
  /// - Parameters:
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Runs on the calling thread if no other thread writes, else on another one. It may
  ///     run more than once, for example after the map has grown or another write of the flush has failed. So it must
  ///     change only the transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, after which nothing is written; `LMDBError` if the disk fails;
  ///   ``StoreError`` `readOnly` or `closed`.
  /// - Complexity: The cost of `body`, and one commit for all queued writes, with the flush of the
  ///   durability.
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
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Runs on a thread of Pando, perhaps more than once, as in the synchronous form.
  /// - Returns: The result of `body`.
  /// - Throws: Same as the synchronous form. A cancelled task still commits.
  /// - Complexity: Same as the synchronous form; returns when all followers of the store show it.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    try await commit(context: context, body).result
  }

  /// Changes the store like `write(context:_:)`, and returns the changes.
  ///
  /// ```swift
  /// let commit = try store.commit { try $0.set(Person(id: 7, name: "Ada")) }
  /// print(commit.changeSet?.commitNumber ?? 0, commit.changeSet?.inserted ?? [])
  /// ```
  ///
  /// - Parameters:
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Runs on the calling thread or another one, perhaps more than once.
  /// - Returns: The result of `body`, and the change set; `nil` in place of one that is empty.
  /// - Throws: The error of `body`; `LMDBError` if the disk fails; ``StoreError`` `readOnly` or
  ///   `closed`.
  /// - Complexity: As `write(context:_:)`.
  @discardableResult
  public func commit<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @Sendable (inout ModelTransaction) throws -> Result
  ) throws -> (result: Result, changeSet: ChangeSet?) {
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

  /// Changes the store like `write(context:_:)`, and returns the changes.
  ///
  /// - Parameters:
  ///   - context: Passed on with the change set to its receivers.
  ///   - body: Runs on a thread of Pando, perhaps more than once.
  /// - Returns: The result of `body`, and the change set; `nil` in place of one that is empty.
  /// - Throws: Same as the synchronous form.
  /// - Complexity: Same as the synchronous form; returns when all followers of the store show it.
  @discardableResult
  public func commit<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> (result: Result, changeSet: ChangeSet?) {
    let writer = try requireWriter()
    let outcome = WriteOutcome<Result>()
    return try await withCheckedThrowingContinuation { continuation in
      let job = WriteJob(context: context, body: { outcome.keep(try body(&$0)) }) { result in
        outcome.finish(result)
        // The followers show the write when the caller continues.
        self.feed.afterShown {
          continuation.resume(with: Swift.Result { try outcome.commit() })
        }
      }
      do {
        try writer.submit(job)
      } catch {
        job.finish(.failure(error))
      }
    }
  }

  /// Waits until all commits are on the disk.
  ///
  /// It is necessary only with a durability below `full`. With `relaxed`, a checkpoint begins immediately.
  ///
  /// - Throws: `LMDBError` with code `failedFlush`; later writes are refused.
  /// - Complexity: O(*p*) for *p* pages that are not on the disk yet. With `relaxed` it also waits
  ///   for the running write and checkpoint.
  /// - Precondition: Not called from inside a write of this store or its commit handler.
  public func flush() throws {
    precondition(writer?.isLeading != true, "a flush inside a write, or the commit handler")
    try core.environment.flush()
  }

  /// Waits until all commits are on the disk.
  ///
  /// The `async` form: it blocks no thread of the caller's pool.
  ///
  /// - Throws: Same as the synchronous form.
  /// - Complexity: Same as the synchronous form, on another thread.
  public func flush() async throws {
    try await withCheckedThrowingContinuation { continuation in
      SharedThreads.runSomewhere { [self] in
        continuation.resume(with: Swift.Result { try core.environment.flush() })
      }
    }
  }

  /// Sets the closure that is called with every commit of this process.
  ///
  /// - Parameter handler: Called on the thread that ran the write's closure, in commit order,
  ///   before the writer's caller resumes. It delays later writes, so it must be short. `nil`
  ///   removes it.
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

/// Passes the result of a write to its caller.
///
/// Sendable because one thread at a time uses it: the writing one until the end of the turn, then
/// the caller's, which waits for that.
private final class WriteOutcome<Result: Sendable>: @unchecked Sendable {
  private var result: Result?
  private var outcome: Swift.Result<ChangeSet?, any Error>?

  /// Keeps the result of the closure; the last run counts.
  func keep(_ result: Result) { self.result = result }

  func finish(_ outcome: Swift.Result<ChangeSet?, any Error>) { self.outcome = outcome }

  func commit() throws -> (result: Result, changeSet: ChangeSet?) {
    guard let outcome = outcome.take() else { preconditionFailure("the write has not finished") }
    let changeSet = try outcome.get()
    guard let result = result.take() else { preconditionFailure("a success without a result") }
    return (result, changeSet)
  }
}

extension ModelStore {
  /// Passes commits of this process to the followers of the store.
  package var feed: CommitFeed { core.feed }

  /// Queues a write and returns at once; its position in the commit order is then fixed.
  ///
  /// The followers of the store receive its effects or its failure, once, and effects in that order.
  /// The failure of a write that had changed rows comes before its flush; of one to a log, perhaps
  /// after later writes.
  ///
  /// - Parameters:
  ///   - ticket: Passed to the followers with the effects of the write.
  ///   - context: Passed on with the change set.
  ///   - body: Runs on a thread of Pando, perhaps more than once.
  /// - Throws: `StoreError` if the store is closed or read-only; then followers receive nothing.
  package func submit(
    ticket: any Sendable, context: (any Sendable)?,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) throws {
    try requireWriter().submit(WriteJob(ticket: ticket, context: context, body: body) { _ in })
  }

  /// Makes the writes of the store, which is marked as replicated, go through a log.
  ///
  /// - Parameter replicator: Sends the writes to the log; retained until the store is closed.
  package func attach(_ replicator: any StoreReplicator) { writer?.attach(replicator) }

  /// Retains a companion object while the store is open and retained.
  package func keep(_ companion: any Sendable) { writer?.keep(companion) }

  /// Whether the store was opened read-only.
  package var isReadOnly: Bool { writer == nil }
}
