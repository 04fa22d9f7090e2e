import PandoConsistency
import Dispatch
import PandoSystem
import PandoModels
import PandoStore

/// Carries changes from providers to a store, and commits from the store to the live trees.
///
/// ```
/// perform ─► store.submit ─► write ─► prepare (in the transaction) ─► flush ─► committed ─► pipeline
/// ```
/// Everything that live trees need of a commit is read while its transaction is open, because writes
/// that share a flush can't be told apart afterwards. A store that is open for reading only has no
/// writer: its commits are read on the pipeline, when ``refresh()`` or a load comes to them.
final class StoreBridge: CommitObserver {
  /// What the store knows an operation of this bridge by.
  private struct Ticket: Sendable {
    let operation: any ManagedOperation
    let bridge: ObjectIdentifier
  }

  let store: ModelStore
  let consistency: ConsistencyManager
  let topics: StoreTopics
  let observed: ObservedHolders
  let reporter: ManagerReporter
  let writes: Locked<InFlightWrites>
  /// Where loads are read: never on the thread of a caller.
  let loader = DispatchQueue(label: "pando.loading", attributes: .concurrent)

  init(
    _ store: ModelStore, _ consistency: ConsistencyManager, _ topics: StoreTopics,
    _ observed: ObservedHolders, _ reporter: ManagerReporter
  ) throws {
    self.store = store
    self.consistency = consistency
    self.topics = topics
    self.observed = observed
    self.reporter = reporter
    let number = try store.read { try $0.commitNumber }
    writes = Locked(InFlightWrites(committed: number))
    store.addObserver(self)
  }

  /// Queues an operation; its place in the order is fixed when this returns.
  func perform(_ operation: any ManagedOperation, writes: Bool) {
    if store.isReadOnly, !writes { return performInMemory(operation) }
    if operation.isChange { self.writes.withLock { $0.queuedChanges += 1 } }
    let ticket = Ticket(operation: operation, bridge: ObjectIdentifier(self))
    store.submit(ticket: ticket, context: operation.context) { transaction in
      if writes { try operation.write(&transaction) }
    } completion: { [self] result in
      if operation.isChange { self.writes.withLock { $0.queuedChanges -= 1 } }
      // Behind the update of the commit, which has been queued: who waits finds it done.
      consistency.enqueue { scope in
        if case .failure(let error) = result {
          operation.fail(error, scope)
          if operation.isChange {
            self.reporter.report(
              .failedWrite(error, of: operation.subjects, context: operation.context))
          }
        }
        operation.outcome.finish(result)
      }
    }
  }

  private func performInMemory(_ operation: any ManagedOperation) {
    consistency.enqueue { scope in
      scope.carryOut(operation)
      operation.outcome.finish(.success(nil))
    }
  }

  /// Reports that live trees need something that can't be read; those who observe it are told at its
  /// place in the order of commits.
  func failRead(_ error: any Error, of key: ByteString, as type: (any SimpleModel.Type)?) {
    reporter.report(.failedRead(error, of: key.text))
    consistency.enqueue { [observed] _ in observed.fail(error, of: key, as: type) }
  }

  func beginFlush() { writes.withLock { $0.beginFlush() } }

  func prepare(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, in snapshot: ModelSnapshot
  ) -> (any Sendable)? {
    let own = (ticket as? Ticket).flatMap { ticket in
      ticket.bridge == ObjectIdentifier(self) ? ticket.operation : nil
    }
    guard own != nil || changeSet != nil else { return nil }
    let known = writes.withLock { $0.prepared }
    let reading = CommitReading(bridge: self, own: own, changeSet: changeSet, known: known)
    let write = reading.read(snapshot)
    writes.withLock { $0.prepare(write) }
    return write
  }

  func committed(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, prepared: (any Sendable)?
  ) {
    guard let write = prepared as? InFlightWrite else { return }
    writes.withLock { $0.commit(write) }
    consistency.enqueue { [self] scope in
      scope.apply(write.update)
      write.operation?.finish(scope)
      for load in writes.withLock({ $0.process(write) }) { align(load, scope) }
    }
  }
}

extension StoreBridge {
  /// Reads something and shows it, in step with the commits around it.
  ///
  /// - Parameters:
  ///   - load: What is read.
  ///   - readsFirst: Whether it is read in any case, or only where a write under way may have brought
  ///     it.
  func load(_ load: any StoreLoad, readsFirst: Bool) {
    guard readsFirst else {
      let nodes = load.nodes
      let entry = writes.withLock { $0.announce(load, nodes) }
      return consistency.enqueue { [self] in align(entry, $0) }
    }
    let entry = ReadAhead(load)
    loader.async { [self] in
      do {
        entry.number = try store.read { snapshot in
          try load.read(snapshot)
          return try snapshot.commitNumber
        }
        consistency.enqueue { [self] scope in align(entry, scope) }
      } catch {
        consistency.enqueue { scope in load.finish(error, scope) }
      }
    }
  }

  private func align(_ entry: ReadAhead, _ scope: PipelineScope) {
    if store.isReadOnly {
      catchUp(entry.load, scope)
      return
    }
    let nodes = entry.load.nodes
    switch writes.withLock({ $0.align(entry, nodes: nodes) }) {
    case .wait: break
    case .show:
      entry.load.finish(nil, scope)
      writes.withLock { $0.end(nodes) }
    case .again:
      if entry.knownSince != nil { writes.withLock { $0.end(nodes) } }
      perform(LoadOperation(entry.load), writes: false)
    }
  }
}
