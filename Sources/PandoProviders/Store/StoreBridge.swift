import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// Passes changes from providers to a store, and commits to the live trees of a manager.
///
/// ```
/// perform ─► store.submit ─► write ─► flush ─► StorePipeline ─► plan ─► stage ─► publish ─► finish
/// ```
/// The models passed to an operation of this manager or to another write are shown as they are.
/// Other effects of a write are read after the commit, on the pipeline. The writer thread decodes
/// nothing for readers.
final class StoreBridge: Sendable {
  /// Identifies an operation of this bridge in the store's queue.
  private final class Ticket: Sendable {
    let operation: any ManagedOperation
    /// The bridge, which lives until the operation ends.
    private let owner: Locked<StoreBridge?>
    private let bridge: ObjectIdentifier
    /// True if the operation changes the store; false if it changes only the shown data.
    let writes: Bool

    init(_ operation: any ManagedOperation, _ bridge: StoreBridge, writes: Bool) {
      self.operation = operation
      self.writes = writes
      self.bridge = ObjectIdentifier(bridge)
      owner = Locked(bridge)
    }

    func belongs(to bridge: StoreBridge) -> Bool { self.bridge == ObjectIdentifier(bridge) }

    /// Ends the operation; returns true at the first call only.
    func end() -> Bool { owner.withLock { exchange(&$0, with: nil) } != nil }
  }

  let store: ModelStore
  let line: StorePipeline
  let consistency: ConsistencyManager
  let topics: StoreTopics
  let observed: ObservedHolders
  let unread = UnreadNodes()
  let reporter: ManagerReporter
  /// The bridge to the manager's own store; `nil` if this is it.
  let main: StoreBridge?
  /// The count of queued changes that live trees do not show as committed.
  private let queuedChangeCount = Locked(0)

  init(
    _ line: StorePipeline, _ consistency: ConsistencyManager, _ topics: StoreTopics,
    _ observed: ObservedHolders, _ reporter: ManagerReporter, besides main: StoreBridge? = nil
  ) {
    self.line = line
    self.main = main
    store = line.store
    self.consistency = consistency
    self.topics = topics
    self.observed = observed
    self.reporter = reporter
    line.add(self)
  }

  /// Records that live trees show data that the store does not have.
  ///
  /// Called on the pipeline.
  func noteOverlaid() {
    store.feed.keepUnchanged()
    consistency.scope.overlay.use()
  }

  /// Queues an operation; its position in the order is fixed when this returns.
  func perform(_ operation: any ManagedOperation, writes: Bool) {
    // Later writes apply to all nodes that they name, also if they change nothing.
    if operation.isChange, !writes { store.feed.keepUnchanged() }
    if store.isReadOnly, !writes { return performInMemory(operation) }
    if operation.isChange { queuedChangeCount.withLock { $0 += 1 } }
    let ticket = Ticket(operation, self, writes: writes)
    do {
      try store.submit(ticket: ticket, context: operation.context) { transaction in
        if writes { try operation.write(&transaction) }
      }
    } catch {
      consistency.enqueue { [self] _ in fail(ticket, error) }
    }
  }

  private func fail(_ ticket: Ticket, _ error: any Error) {
    guard ticket.end() else { return }
    if ticket.operation.isChange { queuedChangeCount.withLock { $0 -= 1 } }
    ticket.operation.end(error, reporter, consistency.scope)
  }

  private func performInMemory(_ operation: any ManagedOperation) {
    consistency.enqueue { [self] scope in
      if !refuse(operation), scope.carryOut(operation) { operation.outcome.finish(.success(nil)) }
    }
  }

  /// Undoes a change in memory that can't be carried out any more.
  ///
  /// Called on the pipeline, when it is the change's turn.
  ///
  /// - Returns: `false` if the change can be carried out.
  func refuse(_ operation: any ManagedOperation) -> Bool {
    guard let obstacle = operation.obstacle else { return false }
    operation.end(obstacle, reporter, consistency.scope)
    return true
  }

  /// Returns the operation of this bridge that a write carries out.
  func operation(of write: CommitEffects) -> (any ManagedOperation)? {
    ticket(of: write)?.operation
  }

  /// Takes the nodes that a write sets or deletes out of the overlay.
  ///
  /// Called on the pipeline.
  ///
  /// - Returns: The nodes that a write of others names, also without changing them, if live trees
  ///   may show them otherwise.
  func releaseNodes(of write: CommitEffects) -> [String] {
    guard consistency.scope.overlay.isUsed else { return [] }
    var named: [String] = []
    if operation(of: write) == nil { write.content.forEachName { named.append($0) } }
    consistency.scope.overlay.release(named.map { ByteString($0) } + write.nodes)
    return named
  }

  /// Returns true if a write changes only the data that this manager shows.
  func isInMemory(_ write: CommitEffects) -> Bool { ticket(of: write)?.writes == false }

  private func ticket(of write: CommitEffects) -> Ticket? {
    (write.ticket as? Ticket).flatMap { $0.belongs(to: self) ? $0 : nil }
  }

  /// Reports failed reads of commits, and ends the observations that they affect.
  ///
  /// Called on the pipeline. Failures of types that live trees no longer show are ignored.
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
  func plan(for write: CommitEffects) -> CommitPlan {
    mayShow([write]) ? WritePlanning(self, write).plan : .nothing
  }

  func isConcerned(by writes: [CommitEffects]) -> Bool {
    mayShow(writes)
      && writes.contains {
        if case .nothing = WritePlanning(self, $0).plan { false } else { true }
      }
  }

  /// Returns true if live trees or lists may show a part of some writes.
  private func mayShow(_ writes: [CommitEffects]) -> Bool {
    writes.contains { $0.hasTicket || $0.listCount > 0 }
      || consistency.containsAny(of: writes.map { $0.nodes })
      || consistency.scope.overlay.isUsed || !unread.isEmpty || topics.mayHide
  }

  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? {
    guard let update = plan as? LiveUpdate else { return nil }
    return step(update)
  }

  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? {
    // Another member needs the snapshot; this bridge may need only the models of the write.
    if let write = group.only {
      switch plan(for: write) {
      case .nothing: return nil
      case .show(let plan), .showAtOnce(let plan): return stage(write, plan)
      case .read: break
      }
    }
    let reading = GroupReading(self, group)
    reading.read(snapshot)
    let failures = reading.failures
    return step(reading.update) { self.tell(failures) }
  }

  private func step(
    _ update: LiveUpdate, afterTelling: @escaping () -> Void = {}
  ) -> LiveStep {
    let step = LiveStep(update, consistency.scope, afterTelling: afterTelling)
    // The manager's own store may have other data of these nodes.
    if let main, step.isVisible { main.noteOverlaid() }
    return step
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
    // The next commit applies the changes of these lists too; they must not be applied twice.
    let changed = Set((write.changeSet?.collections ?? []).map { ByteString($0.cacheKey) })
    let lists = topics.all
    for (_, list) in lists { list.beginUnread() }
    consistency.scope.apply(update)
    for (key, list) in lists { list.endUnread(isChanged: changed.contains(key)) }
  }

  /// Ends the observations of the manager: nothing would change them any more.
  func storeHasClosed() { if main == nil { observed.finish() } }

  func failRead(_ error: any Error) { reporter.report(.failedRead(error, of: store.path)) }
}

extension StoreBridge {
  /// Loads data and shows it, in order with the commits around it.
  ///
  /// - Parameters:
  ///   - load: The load.
  ///   - readsFirst: True to read in any case; false to read only if a queued write may have
  ///     changed the data.
  func load(_ load: any StoreLoad, readsFirst: Bool) {
    let shown = line.beginLoad()
    guard readsFirst else {
      return consistency.enqueue { [self] scope in
        join(load, readAt: shown, waitsForWrites: false, scope)
      }
    }
    line.load { [self] in
      do {
        let number = try store.read { snapshot in
          try load.read(snapshot)
          return try snapshot.commitValue
        }
        // The pipeline receives the earlier commits of this process before the load.
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

  /// Shows loaded data; reads it again if a commit has changed it meanwhile.
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

  /// Reads data and shows it together with all commits up to that moment.
  ///
  /// Called on the pipeline.
  func readAgain(_ load: any StoreLoad, _ scope: PipelineScope) {
    do {
      try line.catchUp { try load.read($0) }
      load.finish(nil, scope)
    } catch {
      load.finish(error, scope)
    }
  }

  /// Shows the commits of other processes.
  ///
  /// - Returns: A write that finishes when the live trees show the commits.
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

  /// Waits until the queued loads and writes are done.
  func drain() async {
    await line.loaded()
    await consistency.processed()  // loads find out here whether they wait for writes
    await passed()
  }

  /// Waits until the queued writes are shown.
  func passed() async {
    let marker = MarkerOperation()
    perform(marker, writes: false)
    _ = try? await marker.outcome.committed()
  }
}
