import Consistency
import Locking
import ModelCore
import StoreEngine

/// Carries changes from providers to a store, and commits from the store to the live trees.
///
/// ```
/// perform ─► store.submit ─► write ─► prepare (in the transaction) ─► flush ─► committed ─► pipeline
/// ```
/// Everything that live trees need of a commit is read while its transaction is open, because writes
/// that share a flush can't be told apart afterwards.
final class StoreBridge: CommitObserver {
  /// What the store knows an operation of this bridge by.
  private struct Ticket: Sendable {
    let operation: any ManagedOperation
    let bridge: ObjectIdentifier
  }

  /// A commit that is prepared and not yet worked out by the pipeline.
  final class InFlight: Sendable {
    let update: LiveUpdate
    /// Every identifier and cache key that it touches.
    let touched: Set<ByteString>

    init(_ update: LiveUpdate, touched: Set<ByteString>) {
      self.update = update
      self.touched = touched
    }
  }

  private struct State {
    /// The last commit whose change set has been prepared, in this flush too.
    var prepared: UInt64
    /// The last commit that is on disk and was handed to the pipeline.
    var committed: UInt64
    /// In order; those of the flush under way at the end.
    var inFlight: [InFlight] = []
    var preparedInFlush = 0
  }

  let store: ModelStore
  private let consistency: ConsistencyManager
  private let state: Locked<State>

  init(_ store: ModelStore, _ consistency: ConsistencyManager) throws {
    self.store = store
    self.consistency = consistency
    let number = try store.read { try $0.commitNumber }
    state = Locked(State(prepared: number, committed: number))
    store.addObserver(self)
  }

  /// Queues an operation; its place in the order is fixed when this returns.
  func perform(_ operation: any ManagedOperation, writes: Bool) {
    let ticket = Ticket(operation: operation, bridge: ObjectIdentifier(self))
    store.submit(ticket: ticket, context: operation.context) { transaction in
      if writes { try operation.write(&transaction) }
    } completion: { [consistency] result in
      if case .failure(let error) = result {
        consistency.enqueue { scope in operation.fail(error, scope) }
      }
      operation.outcome.finish(result)
    }
  }

  func beginFlush() {
    state.withLock { state in
      state.prepared = state.committed
      state.inFlight.removeLast(state.preparedInFlush)
      state.preparedInFlush = 0
    }
  }

  func prepare(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, in snapshot: ModelSnapshot
  ) -> (any Sendable)? {
    let own = (ticket as? Ticket).flatMap { ticket in
      ticket.bridge == ObjectIdentifier(self) ? ticket.operation : nil
    }
    guard own != nil || changeSet != nil else { return nil }
    var update = own?.makeUpdate() ?? LiveUpdate()
    update.operation = own
    if let changeSet {
      update.changeSet = changeSet
      update.context = changeSet.context
      update.deleted.formUnion(changeSet.deleted.map { ByteString($0) })
    }
    // To be completed: gaps left by other processes, models that live trees show and the operation
    // does not carry, topics of changed collections.
    let entry = InFlight(update, touched: [])
    state.withLock { state in
      state.inFlight.append(entry)
      state.preparedInFlush += 1
      if let changeSet { state.prepared = changeSet.commitNumber }
    }
    return entry
  }

  func committed(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, prepared: (any Sendable)?
  ) {
    guard let entry = prepared as? InFlight else { return }
    state.withLock { state in
      state.preparedInFlush -= 1
      if let changeSet { state.committed = changeSet.commitNumber }
    }
    consistency.enqueue { [self] scope in
      scope.apply(entry.update)
      state.withLock { state in state.inFlight.removeAll { $0 === entry } }
    }
  }
}
