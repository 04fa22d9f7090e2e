import PandoModels
import PandoSystem

/// What a server tells of changes of a type, and the one run that asks for it.
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

  /// The outcome of the run that is under way, or of a new one.
  func value(
    _ run: @escaping @Sendable () async throws -> SynchronizationResult<E>
  ) async throws -> SynchronizationResult<E> {
    let task = running.withLock { running in
      if let running { return running }
      let task = Task { [self] in
        // It can't end before it is known: that needs the lock too.
        defer { self.running.withLock { $0 = nil } }
        do {
          return try await run()
        } catch is CancellationError {
          // Nobody but the container cancels it.
          throw ManagerError(.closed, E.modelTypeName, "the container was closed")
        }
      }
      running = task
      return task
    }
    // Who is cancelled does not wait for the others' run.
    return try await OneAnswer.wait { tell in Task { tell(await task.result) } }
  }

  /// Ends the run.
  func end() async {
    guard let task = running.withLock({ $0 }) else { return }
    task.cancel()
    _ = await task.result
  }
}
