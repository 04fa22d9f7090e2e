import Dispatch
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// Carries changes from providers to a store, and what is committed to the live trees of a manager.
///
/// ```
/// perform ─► store.submit ─► write ─► flush ─► StorePipeline ─► plan ─► stage ─► publish ─► finish
/// ```
/// What an operation of this manager gives, and what any other write was given, is shown as it is. What
/// a write has done by other means is read, on the pipeline and after the commit: a writer decodes
/// nothing for readers.
final class StoreBridge: Sendable {
  /// What the store knows an operation of this bridge by.
  private final class Ticket: Sendable {
    let operation: any ManagedOperation
    let bridge: ObjectIdentifier
    /// Whether it changes the store, and not only what is shown.
    let writes: Bool
    private let isOver = Locked(false)

    init(_ operation: any ManagedOperation, _ bridge: StoreBridge, writes: Bool) {
      self.operation = operation
      self.writes = writes
      self.bridge = ObjectIdentifier(bridge)
    }

    /// Ends the operation, once.
    func end() -> Bool { isOver.withLock { !exchange(&$0, with: true) } }
  }

  let store: ModelStore
  let line: StorePipeline
  let consistency: ConsistencyManager
  let topics: StoreTopics
  let observed: ObservedHolders
  let unread = UnreadNodes()
  let reporter: ManagerReporter
  /// How many changes are queued that live trees do not show as committed.
  private let queuedChangeCount = Locked(0)
  /// Whether something was ever set or deleted in memory only: then what is live need not be what is
  /// stored, and a write counts for all nodes that it names.
  private let wasSetInMemory = Locked(false)
  /// Where loads are read: never on the thread of a caller.
  let loader = DispatchQueue(label: "pando.loading", attributes: .concurrent)

  init(
    _ line: StorePipeline, _ consistency: ConsistencyManager, _ topics: StoreTopics,
    _ observed: ObservedHolders, _ reporter: ManagerReporter
  ) {
    self.line = line
    store = line.store
    self.consistency = consistency
    self.topics = topics
    self.observed = observed
    self.reporter = reporter
    line.add(self)
  }

  /// Says that live trees show something that the store does not have.
  ///
  /// Before the place of that in the writer's queue.
  func noteSetInMemory() {
    if wasSetInMemory.withLock({ exchange(&$0, with: true) }) { return }
    store.feed.keepUnchanged()
  }

  /// Queues an operation; its place in the order is fixed when this returns.
  func perform(_ operation: any ManagedOperation, writes: Bool) {
    if operation.isChange, !writes { noteSetInMemory() }
    if store.isReadOnly, !writes { return performInMemory(operation) }
    if operation.isChange { queuedChangeCount.withLock { $0 += 1 } }
    let ticket = Ticket(operation, self, writes: writes)
    store.submit(ticket: ticket, context: operation.context) { transaction in
      if writes { try operation.write(&transaction) }
    } completion: { [self] result in
      // A success is answered when it is shown, and a refusal at its place between the others; what
      // has not come that way has failed with its flush.
      guard case .failure(let error) = result else { return }
      consistency.enqueue { _ in self.fail(ticket, error) }
    }
  }

  private func fail(_ ticket: Ticket, _ error: any Error) {
    guard ticket.end() else { return }
    let (operation, scope) = (ticket.operation, consistency.scope)
    if operation.isChange { queuedChangeCount.withLock { $0 -= 1 } }
    operation.fail(error, scope)
    if operation.isChange {
      reporter.report(.failedWrite(error, of: operation.subjects, context: operation.context))
    }
    operation.outcome.finish(.failure(error))
  }

  private func performInMemory(_ operation: any ManagedOperation) {
    consistency.enqueue { [self] scope in
      if !refuse(operation) { scope.carryOut(operation) }
      operation.outcome.finish(.success(nil))
    }
  }

  /// Takes a change in memory back that can't be carried out any more.
  ///
  /// On the pipeline, at its place in the order.
  ///
  /// - Returns: `false` if it can.
  func refuse(_ operation: any ManagedOperation) -> Bool {
    guard let obstacle = operation.obstacle else { return false }
    operation.fail(obstacle, consistency.scope)
    reporter.report(.failedWrite(obstacle, of: operation.subjects, context: operation.context))
    operation.outcome.finish(.failure(obstacle))
    return true
  }

  /// The operation of this bridge that a write carries out.
  func operation(of write: CommitEffects) -> (any ManagedOperation)? {
    ticket(of: write)?.operation
  }

  /// Whether what is live may be other than what is stored.
  var differsInMemory: Bool { wasSetInMemory.withLock { $0 } }

  /// What a write names besides what it has changed, as far as live trees may show it otherwise.
  func named(by write: CommitEffects) -> [String] {
    guard differsInMemory, operation(of: write) == nil else { return [] }
    var identifiers: [String] = []
    write.content.forEachName { identifiers.append($0) }
    return identifiers
  }

  /// Whether a write changes what is shown by this manager only.
  func isInMemory(_ write: CommitEffects) -> Bool { ticket(of: write)?.writes == false }

  private func ticket(of write: CommitEffects) -> Ticket? {
    (write.ticket as? Ticket).flatMap { $0.bridge == ObjectIdentifier(self) ? $0 : nil }
  }

  /// Reports what could not be read of commits, and tells those who observe it.
  ///
  /// On the pipeline; only what live trees show after the commits counts.
  private func tell(_ failures: [ReadFailure]) {
    for failure in failures {
      if let type = failure.type,
        !consistency.liveTypes(of: failure.key.text).contains(where: { $0 == type })
      {
        continue
      }
      unread.add(failure)
      if failure.isRepeated { continue }
      reporter.report(.failedRead(failure.error, of: failure.key.text))
      observed.fail(failure.error, of: failure.key, as: failure.type)
    }
  }
}

extension StoreBridge: StorePipelineMember {
  func plan(for write: CommitEffects) -> CommitPlan { WritePlanning(self, write).plan }

  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? {
    guard let update = plan as? LiveUpdate else { return nil }
    return LiveStep(update, consistency.scope)
  }

  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? {
    // Another member needs the snapshot; the models that the write was given may suffice here.
    if let write = group.only {
      switch plan(for: write) {
      case .nothing: return nil
      case .show(let plan): return stage(write, plan)
      case .read: break
      }
    }
    let reading = GroupReading(self, group)
    reading.read(snapshot)
    let failures = reading.failures
    return LiveStep(reading.update, consistency.scope) { self.tell(failures) }
  }

  func finish(_ write: CommitEffects) {
    guard let ticket = ticket(of: write), ticket.end() else { return }
    let operation = ticket.operation
    if operation.isChange { queuedChangeCount.withLock { $0 -= 1 } }
    operation.finish(consistency.scope)
    operation.outcome.finish(.success(write.changeSet))
  }

  func fail(_ write: CommitEffects, _ error: any Error) {
    if let ticket = ticket(of: write) { fail(ticket, error) }
  }

  func showsList(_ cacheKey: ByteString) -> Bool { topics.topic(cacheKey) != nil }

  func showUnread(_ write: CommitEffects) {
    guard let operation = operation(of: write) else { return }
    var update = operation.makeUpdate()
    update.operation = operation
    // What has happened to these comes with the next commit too, and is not to be done twice.
    let changed = Set((write.changeSet?.collections ?? []).map { ByteString($0.cacheKey) })
    let lists = topics.all
    for (_, list) in lists { list.beginUnread() }
    consistency.scope.apply(update)
    for (key, list) in lists { list.endUnread(isChanged: changed.contains(key)) }
  }

  func failRead(_ error: any Error) { reporter.report(.failedRead(error, of: store.path)) }
}

extension StoreBridge {
  /// Reads something and shows it, in step with the commits around it.
  ///
  /// - Parameters:
  ///   - load: What is read.
  ///   - readsFirst: Whether it is read in any case, or only where a write under way may have brought
  ///     it.
  func load(_ load: any StoreLoad, readsFirst: Bool) {
    let shown = line.beginLoad()
    guard readsFirst else {
      return consistency.enqueue { [self] scope in
        join(load, readAt: shown, waitsForWrites: false, scope)
      }
    }
    loader.async { [self] in
      do {
        let number = try store.read { snapshot in
          try load.read(snapshot)
          return try snapshot.commitValue
        }
        // What this process has committed by then comes to the pipeline before the load does.
        store.feed.waitForHandOver(of: number)
        consistency.enqueue { [self] scope in
          join(load, readAt: number, waitsForWrites: true, scope)
        }
      } catch {
        consistency.enqueue { [self] scope in
          load.finish(error, scope)
          line.endLoad()
        }
      }
    }
  }

  /// Shows what was read; what a commit has touched meanwhile is read again.
  private func join(
    _ load: any StoreLoad, readAt number: UInt64, waitsForWrites: Bool, _ scope: PipelineScope
  ) {
    defer { line.endLoad() }
    if waitsForWrites, load.isMiss, queuedChangeCount.withLock({ $0 }) > 0 {
      return perform(LoadOperation(load, self), writes: false)
    }
    if !store.isReadOnly, line.isCurrent(load.keys, readAt: number) {
      return load.finish(nil, scope)
    }
    readAgain(load, scope)
  }

  /// Reads and shows something with all that is committed by then.
  ///
  /// On the pipeline.
  func readAgain(_ load: any StoreLoad, _ scope: PipelineScope) {
    do {
      try line.catchUp { try load.read($0) }
      load.finish(nil, scope)
    } catch {
      load.finish(error, scope)
    }
  }

  /// Takes in what other processes have committed.
  ///
  /// - Returns: What is finished when the live trees show it.
  func refresh() -> PendingWrite {
    let outcome = PendingWrite()
    consistency.enqueue { [line] _ in
      outcome.finish(
        Result { () -> ChangeSet? in
          try line.catchUp()
          return nil
        })
    }
    return outcome
  }

  /// Waits until the loads and writes that are queued are done.
  func drain() async {
    await line.loaded()
    await consistency.processed()  // where loads find that they wait for writes
    await passed()
  }

  /// Waits until the writes that are queued are shown.
  func passed() async {
    let marker = MarkerOperation()
    perform(marker, writes: false)
    _ = try? await marker.outcome.committed()
  }
}
