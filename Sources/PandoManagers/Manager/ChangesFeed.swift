import PandoModels
import PandoSystem

/// The server that sends the changes of a type, and the one run that requests them.
final class ChangesFeed<E: Entity>: Sendable {
  let server: any ChangesStoring<E>
  let ledger: SyncLedger
  private let running = Locked<Task<SynchronizationResult<E>, any Error>?>(nil)

  init(_ server: any ChangesStoring<E>, _ stack: StoreStack<E>) {
    self.server = server
    ledger = SyncLedger(
      E.modelTypeName, client: server.clientIdentifier,
      stack.followedStore)
  }

  /// Waits for the current run, or for a new one.
  func value(
    _ run: @escaping @Sendable () async throws -> SynchronizationResult<E>
  ) async throws -> SynchronizationResult<E> {
    let task = running.withLock { running in
      if let running { return running }
      let task = Task { [self] in
        // The task can't end before `running` is set: its end takes the lock too.
        defer { self.running.withLock { $0 = nil } }
        do {
          return try await run()
        } catch is CancellationError {
          // Only the closing of the container cancels the run.
          throw ManagerError(.closed, E.modelTypeName, "the container was closed")
        }
      }
      running = task
      return task
    }
    // A cancelled caller stops waiting; the run continues for the others.
    return try await OneAnswer.wait { tell in Task { tell(await task.result) } }
  }

  /// Cancels the run and waits for its end.
  func end() async {
    guard let task = running.withLock({ $0 }) else { return }
    task.cancel()
    _ = await task.result
  }
}
