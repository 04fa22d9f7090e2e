import FoundationEssentials
package import PandoModels
import PandoRecords
import PandoSystem

/// The operations of the pipeline: regenerating and registering trees, publishing and delivering
/// changes.
///
/// Work on the pipeline receives a scope and must use it during that call only.
///
/// - `asked`, `resolved`, `group`, `hasBegunGroup`, `affectedCount`, `mark`, `hasResolved`,
///   `lastOrigin` and `source` belong to the running update.
/// - `owesDelivery`, `isOwing` and `afterwards` describe work that is still to be done for this
///   scope.
/// - `journal`, `overlay` and `updateNumber` live as long as the scope.
package final class PipelineScope: @unchecked Sendable {
  // Sendable because only the draining thread of the pipeline uses it.

  /// The affected row of the holder that is being staged, if there is exactly one.
  private struct Asked {
    var holder: UInt64 = 0
    var row: LiveRow = 0
    /// Negative if there are several rows, or if the holder has changed its registration.
    var number: Int32 = -1
    var nodeCount = 0

    func isRow(_ holder: UInt64, _ row: LiveRow) -> Bool {
      number >= 0 && self.holder == holder && self.row == row
    }
  }

  let context: PipelineContext
  let watch = MapWatch()
  var regenerator: Regenerator
  /// The changes of updates while requests to a cache are pending.
  var journal = JoinJournal()
  /// The difference between shown and stored data.
  package var overlay = Overlay()
  /// The affected row of the holder that is being staged, if there is exactly one.
  private var asked = Asked()
  /// The numbers of the rows whose trees contain the running update.
  private var resolved: [Int32] = []
  /// The change that the previous holder has staged, if the current holder may add its own to it.
  package private(set) var group: AnyObject?
  private var hasBegunGroup = false
  /// The count of holders that the running update affects.
  package private(set) var affectedCount = 0
  /// True if queued callbacks are not delivered by a thread yet.
  private var owesDelivery = false
  /// True if the scope is in the pipeline's list of scopes with open work.
  private var isOwing = false
  /// The work of ``afterwards(_:)``.
  private var afterwards: [@Sendable () -> Void] = []
  /// The mark of the rows that the running update affects; 0 if there is no update.
  private var mark: UInt64 = 0
  private var hasResolved = false
  /// The count of processed updates; it orders the changes that holders keep.
  private var updateNumber: UInt64 = 0
  /// The origin of the running update; made at its first use.
  private var lastOrigin: ChangeOrigin?
  private var source: (context: (any Sendable)?, date: Date) = (nil, .distantPast)

  /// The origin of the running update, for changes that holders keep.
  var origin: ChangeOrigin {
    if let lastOrigin { return lastOrigin }
    let new = ChangeOrigin(context: source.context, date: source.date, order: updateNumber)
    lastOrigin = new
    return new
  }

  /// The maximum capacity of the array of rows that is kept between updates.
  private static let keptCountMaximum = 1_024

  init(_ context: PipelineContext) {
    self.context = context
    regenerator = Regenerator(watch: watch)
  }

  var deliverer: Deliverer { context.deliverer }

  func isCurrent(_ epoch: UInt64) -> Bool { context.epoch.withLock { $0 == epoch } }

  /// Stages an update, publishes it in one step, and queues its callbacks.
  package func apply(_ update: LiveUpdate) { publish(stage(update)) }

  /// Stages an update; it must be published before the next one is staged.
  package func stage(_ update: LiveUpdate) -> StagedUpdate {
    updateNumber += 1
    if journal.isOpen { journal.note(update) }
    lastOrigin = nil
    source = (update.context, update.date)
    reportGiven(update)
    overlay.apply(update)
    regenerator.begin(
      update, hiding: overlay.gone, keepsReplacements: context.reporter.hasDelegate)
    let (carried, spokesmen) = context.registry.withLock { registry in
      let carried = registry.entries(of: update)
      return (carried, registry.spokesmen(for: carried))
    }
    let unchanged = spokesmen.isEmpty ? [] : findUnchanged(spokesmen)
    let (affected, rows, mark) = context.registry.withLock {
      $0.affected(by: update, carried, unchanged: unchanged)
    }
    affectedCount = affected.count
    self.mark = mark
    hasResolved = false
    // Called before the watch is set, because work started by a listener's own code would inherit
    // the watch.
    for entry in affected { entry.holder.prepare() }
    let changes =
      affected.isEmpty ? [] : MapWatch.$current.withValue(watch) { stage(update, affected) }
    if hasResolved || !resolved.isEmpty {
      context.registry.withLock { $0.settle(update, carried, rows, resolved, mark) }
      resolved.removeAll(keepingCapacity: resolved.count < Self.keptCountMaximum)
    }
    self.mark = 0
    context.reporter.report(regenerator.replacements, context: update.context)
    context.reporter.report(regenerator.mistakes)
    regenerator.end()
    lastOrigin = nil
    source.context = nil
    return StagedUpdate(
      changes: changes, update: update, tellListeners: context.reporter.updatesTelling())
  }

  /// Returns the entries of nodes that an update sets without a change for the rows settled on
  /// them.
  private func findUnchanged(_ spokesmen: [LiveRegistry.Spokesman]) -> [Int32] {
    var unchanged: [Int32] = []
    for spokesman in spokesmen {
      guard let node = spokesman.node else { continue }
      if regenerator.isUnchanged(node, spokesman.identifier) { unchanged.append(spokesman.entry) }
    }
    return unchanged
  }

  private func stage(
    _ update: LiveUpdate, _ affected: [LiveRegistry.Affected]
  ) -> [any StagedChange] {
    var changes: [any StagedChange] = []
    for entry in affected {
      asked = Asked(
        holder: entry.holderNumber, row: entry.rows.first ?? 0, number: entry.number,
        nodeCount: entry.nodeCount)
      guard let change = entry.holder.stage(update, rows: entry.rows, self) else { continue }
      changes.append(change)
      if !hasBegunGroup { group = nil }
      hasBegunGroup = false
    }
    asked = Asked()
    group = nil
    return changes
  }

  /// Allows later holders to add their changes to that of the current holder.
  ///
  /// - Parameter group: The change that the current holder returns.
  package func begin(_ group: any StagedChange & AnyObject) {
    self.group = group
    hasBegunGroup = true
  }

  private func reportGiven(_ update: LiveUpdate) {
    if let refusal = update.refusal { context.reporter.report([refusal]) }
    context.reporter.report(
      update.conflicts.map {
        ConsistencyError(
          .conflictingContent, identifier: $0,
          reason: "occurs several times in one tree with different content; the last one is used")
      })
  }

  private func publish(_ staged: StagedUpdate) {
    if !staged.changes.isEmpty { context.pipeline.publishing.writing { staged.publish() } }
    tell(staged)
  }

  /// Publishes changes that belong to no update in one step, and queues their callbacks.
  package func publish(_ changes: [any StagedChange]) {
    if !changes.isEmpty {
      context.pipeline.publishing.writing { for change in changes { change.publish() } }
    }
    tell(changes)
  }

  /// Publishes a change without callbacks.
  package func publish(_ body: () -> Void) {
    context.pipeline.publishing.writing(body)
    checkInvariants()
  }

  private func checkInvariants() {
    if InternalChecks.areOn {
      context.registry.withLock { $0.checkInvariants() }
      overlay.checkInvariants { liveModels(of: $0, asksListeners: false) }
    }
  }

  private func tell(_ changes: [any StagedChange]) {
    checkInvariants()
    if changes.contains(where: \.hasCallbacks) { deliver { Delivery.deliver(changes) } }
  }

  /// Queues the callbacks of a published update.
  package func tell(_ staged: StagedUpdate) {
    let (changes, update) = (staged.changes, staged.update)
    guard let tellListeners = staged.tellListeners, !update.carriesNothing else {
      return tell(changes)
    }
    checkInvariants()
    deliver {
      Delivery.deliver(changes)
      tellListeners(update)
    }
  }

  /// Queues a callback that belongs to no update.
  package func tell(_ call: @escaping @Sendable () -> Void) { deliver(call) }

  /// Queues a callback.
  private func deliver(_ call: @escaping @Sendable () -> Void) {
    if context.deliverer.add(call) {
      owesDelivery = true
      owe()
    }
  }

  /// Defers work; it runs on the pipeline, before callbacks are delivered.
  package func afterwards(_ work: @escaping @Sendable () -> Void) {
    afterwards.append(work)
    owe()
  }

  private func owe() {
    if exchange(&isOwing, with: true) { return }
    context.pipeline.owing.scopes.append(self)
  }

  /// Does the deferred work.
  ///
  /// - Returns: True if the caller must start the delivery of callbacks.
  func finishAfterwards() -> Bool {
    isOwing = false
    if !afterwards.isEmpty {
      for work in exchange(&afterwards, with: []) { work() }
    }
    return exchange(&owesDelivery, with: false)
  }

  /// Applies the running update to a tree; returns `nil` if the tree does not change.
  ///
  /// - Parameters:
  ///   - tree: A tree.
  ///   - isConcerned: True if the tree is registered for a node of the update.
  /// - Returns: The new tree.
  package func regenerate(_ tree: any SimpleModel, isConcerned: Bool = false) -> Regeneration? {
    regenerator.regenerate(tree, isConcerned: isConcerned)
  }

  /// Applies the running update to a registered tree.
  ///
  /// A holder that uses this function for all its updates must keep its trees for
  /// ``LiveHolder/tree(ofRow:)``. Updates that set a node without changing it are then not staged for
  /// the holder.
  ///
  /// - Parameters:
  ///   - tree: Exactly the registered tree of the row.
  ///   - holder: The owner.
  ///   - row: The row of the tree.
  /// - Returns: `nil` if the tree does not change; else the value for ``register(_:row:_:)``.
  package func regenerate(
    _ tree: any SimpleModel, of holder: any LiveHolder, row: LiveRow
  ) -> Regeneration? {
    let number = holder.number
    let nodeCount =
      asked.isRow(number, row)
      ? asked.nodeCount : context.registry.withLock { $0.nodeCount(of: number, row) }
    regenerator.mergesOddly = false
    let regenerated = regenerator.regenerate(tree, nodeCount: nodeCount, isConcerned: true)
    guard var regeneration = regenerated else {
      if !regenerator.mergesOddly { resolve(number, row) }
      return nil
    }
    regeneration.isAsCarried = !regenerator.mergesOddly
    return regeneration
  }

  /// Records that the tree of a row contains the running update.
  private func resolve(_ holder: UInt64, _ row: LiveRow) {
    guard mark != 0 else { return }
    if asked.isRow(holder, row) {
      resolved.append(asked.number)
      return
    }
    hasResolved = true
    context.registry.withLock { $0.resolve(holder, row, mark) }
  }

  /// Applies the running update to a tree, and returns the changes.
  func regenerateModel(
    _ tree: any Model
  ) -> (model: (any Model)?, updates: ModelUpdates, hasSameNodes: Bool)? {
    regenerator.regenerate(tree, registeredCount: asked.nodeCount).map {
      ($0.model, $0.updates, regenerator.hasSameNodes)
    }
  }

  /// Reports a mistake to the manager's delegate.
  package func report(_ mistake: ConsistencyError) { context.reporter.report([mistake]) }

  /// Registers a holder; its trees are registered one by one.
  package func add(_ holder: any LiveHolder) { registry { $0.add(holder) } }

  /// Changes the registry.
  ///
  /// The row found for the current holder is invalid afterwards.
  private func registry(_ body: (inout LiveRegistry) -> Void) {
    asked.number = -1
    context.registry.withLock(body)
  }

  /// Removes a holder with all its trees; its subscriptions to topics must have ended.
  package func remove(_ holder: any LiveHolder) {
    registry { $0.remove(holder: holder.number) }
  }

  /// Replaces the tree of a row in the registry.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: The row of the tree.
  ///   - old: The registered tree; `nil` if there is none.
  ///   - new: The new tree; `nil` to unregister the old one.
  package func register(
    _ holder: any LiveHolder, row: LiveRow, old: (any SimpleModel)?, new: (any SimpleModel)?
  ) {
    registry { $0.unsettle(holder.number, row) }
    setTrees(holder, row: row, new.map { [$0] } ?? [])
  }

  /// Registers the first tree of a holder that takes its updates by ``regenerate(_:of:row:)``.
  ///
  /// The holder must keep its trees for ``LiveHolder/tree(ofRow:)``.
  ///
  /// - Parameters:
  ///   - holder: The owner, which has no registered tree.
  ///   - row: The row of the tree.
  ///   - tree: The tree.
  package func registerFirst(_ holder: any LiveHolder, row: LiveRow, _ tree: NewTree) {
    guard tree.isPlain else { return setTrees(holder, row: row, [tree.root]) }
    if tree.agrees {
      return registry { $0.setAgreedNodes(tree.nodes, of: holder.number, row: row) }
    }
    var candidates: [LiveRegistry.Candidate] = []
    registry { candidates = $0.setFirstNodes(tree.nodes, of: holder.number, row: row) }
    candidates.removeAll { !tree.isEqual(to: $0) }
    if !candidates.isEmpty { registry { $0.settle(candidates) } }
  }

  /// Replaces the tree of a row by one that its holder has set, without an update.
  ///
  /// Done only if the update would change no other live tree, and has no listener.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: The row of the tree.
  ///   - tree: The tree.
  /// - Returns: `false` if an update is needed; then nothing is registered.
  package func registerAlone(
    _ holder: any LiveHolder, row: LiveRow, _ tree: any SimpleModel
  ) -> Bool {
    guard !journal.isOpen, overlay.gone.isEmpty, context.reporter.updatesTelling() == nil else {
      return false
    }
    let new = NewTree(tree)
    guard agrees(new, besides: (holder.number, row)) else { return false }
    registry { $0.setAgreedNodes(new.nodes, of: holder.number, row: row) }
    return true
  }

  /// Returns true if all live trees that contain a node of a new tree have its content.
  ///
  /// - Parameters:
  ///   - tree: The new tree.
  ///   - own: The row of the tree that it replaces, which does not count; `nil` to leave out rows
  ///     that wait for a node.
  /// - Returns: `false` also if comparisons with few trees do not suffice.
  func agrees(_ tree: NewTree, besides own: (holder: UInt64, row: LiveRow)?) -> Bool {
    guard tree.isPlain,
      let candidates = context.registry.withLock({ $0.candidates(for: tree.nodes, besides: own) })
    else { return false }
    return candidates.allSatisfy(tree.isEqual)
  }

  /// Replaces the tree of a row in the registry by a regenerated one.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: The row of the tree.
  ///   - regeneration: The result of ``regenerate(_:)`` for the registered tree.
  package func register(
    _ holder: any LiveHolder, row: LiveRow, _ regeneration: Regeneration
  ) {
    if !regeneration.hasSameNodes {
      setTrees(holder, row: row, regeneration.model.map { [$0] } ?? [])
    }
    if regeneration.isAsCarried { resolve(holder.number, row) }
  }

  /// Replaces the tree of a row in the registry by the tree that its holder has set in the running
  /// update.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: The row of the tree.
  ///   - tree: The only tree of the update.
  ///   - update: The running update.
  ///   - isUsable: Returns true if the holder can show another tree instead.
  /// - Returns: The tree to show. `isOther` is true if other data of the update have changed it.
  ///   `nil` if they have deleted its root; nothing is registered then.
  package func registerOwn(
    _ holder: any LiveHolder, row: LiveRow, _ tree: any SimpleModel, _ update: LiveUpdate,
    _ isUsable: (any SimpleModel) -> Bool
  ) -> (model: any SimpleModel, isOther: Bool)? {
    regenerator.mergesOddly = false
    let regeneration = regenerator.regenerate(tree)
    if let regeneration, regeneration.model == nil { return nil }
    let isAsCarried = regeneration == nil && !regenerator.mergesOddly
    let other = regeneration?.model.flatMap { isUsable($0) ? $0 : nil }
    if other == nil, let nodes = update.givenNodes {
      registry {
        $0.setOwnNodes(nodes, of: holder.number, row: row, resolved: isAsCarried ? mark : 0)
      }
      if isAsCarried { hasResolved = true }
    } else {
      registry { $0.unsettle(holder.number, row) }
      setTrees(holder, row: row, [other ?? tree])
      if isAsCarried { resolve(holder.number, row) }
    }
    return (other ?? tree, isOther: other != nil)
  }

  /// Sets the nodes of a row to those of some trees.
  func setTrees(_ holder: any LiveHolder, row: LiveRow, _ trees: [any SimpleModel]) {
    var nodes: [LiveRegistry.Node] = []
    for tree in trees { TreeNodes.append(tree, to: &nodes) }
    registry { $0.setNodes(nodes, of: holder.number, row: row) }
  }

  /// Registers a row for an identifier that does not exist yet.
  package func registerAbsent(
    _ holder: any LiveHolder, row: LiveRow, identifier: String, as type: any SimpleModel.Type
  ) {
    registry { $0.await(ByteString(identifier), type, of: holder.number, row: row) }
  }

  /// Ends the registration that ``registerAbsent(_:row:identifier:as:)`` made.
  package func unregisterAbsent(_ holder: any LiveHolder, row: LiveRow, identifier: String) {
    registry { $0.endAwaiting(ByteString(identifier), of: holder.number, row: row) }
  }

  /// Subscribes a holder to a topic of updates.
  package func subscribe(_ holder: any LiveHolder, to topic: String) {
    context.registry.withLock {
      _ = $0.topics[ByteString(topic), default: []].insert(holder.number)
    }
  }

  /// Ends the subscription that ``subscribe(_:to:)`` made.
  package func unsubscribe(_ holder: any LiveHolder, from topic: String) {
    context.registry.withLock { registry in
      let key = ByteString(topic)
      registry.topics[key]?.remove(holder.number)
      if registry.topics[key]?.isEmpty == true { registry.topics[key] = nil }
    }
  }
}

/// An update that is staged and not shown yet.
package struct StagedUpdate {
  fileprivate let changes: [any StagedChange]
  fileprivate let update: LiveUpdate
  /// Calls the listeners of all updates, if there are any.
  fileprivate let tellListeners: (@Sendable (LiveUpdate) -> Void)?

  fileprivate init(
    changes: [any StagedChange], update: LiveUpdate,
    tellListeners: (@Sendable (LiveUpdate) -> Void)?
  ) {
    self.changes = changes
    self.update = update
    self.tellListeners = tellListeners
  }

  /// True if the update changes nothing.
  package var isEmpty: Bool { changes.isEmpty }

  /// Publishes the update; the caller holds the pipeline's publishing lock for writing.
  package func publish() { for change in changes { change.publish() } }
}
