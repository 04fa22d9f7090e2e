import FoundationEssentials
package import PandoModels
import PandoSystem

/// What may be done on the pipeline: regenerate trees, register them, publish and deliver.
///
/// It is confined to the pipeline; work that gets one uses it in that call only.
package final class PipelineScope: @unchecked Sendable {
  // Sendable because only the one who drains the pipeline uses it.

  /// The row of the holder that is asked, if just one is concerned, as it was found.
  private struct Asked {
    var holder: UInt64 = 0
    var row: LiveRow = 0
    /// Negative if there are several, or if the holder has changed what is registered.
    var number: Int32 = -1
    var nodeCount = 0

    func isRow(_ holder: UInt64, _ row: LiveRow) -> Bool {
      number >= 0 && self.holder == holder && self.row == row
    }
  }

  let context: PipelineContext
  let watch = MapWatch()
  var regenerator: Regenerator
  /// What updates carry while a cache is being asked.
  var journal = JoinJournal()
  /// Nodes that were deleted in memory only: what is read holds them, and is shown without.
  package private(set) var vanished: Set<ByteString> = []
  /// The row of the holder that is asked, if just one is concerned.
  private var asked = Asked()
  /// The rows, by number, that have taken the update at work.
  private var resolved: [Int32] = []
  /// What the holders before have staged together, if that is the last that was staged.
  package private(set) var group: AnyObject?
  private var hasBegunGroup = false
  /// How many holders the update at work concerns.
  package private(set) var affectedCount = 0
  /// Whether nobody tells yet what is queued.
  private var owesDelivery = false
  /// Whether the pipeline knows that this owes something.
  private var isOwing = false
  /// What is done when some of what is queued has been worked out.
  private var afterwards: [@Sendable () -> Void] = []
  /// The mark of the rows that the update at work concerns; 0 if there is none.
  private var mark: UInt64 = 0
  private var hasResolved = false
  /// How many updates have been worked out before: orders what holders keep for later.
  private var updateNumber: UInt64 = 0
  /// What holders keep of the update at work; made when it is asked for.
  private var lastOrigin: ChangeOrigin?
  private var source: (context: (any Sendable)?, date: Date) = (nil, .distantPast)

  /// The update at work, for what holders keep of it.
  var origin: ChangeOrigin {
    if let lastOrigin { return lastOrigin }
    let new = ChangeOrigin(context: source.context, date: source.date, order: updateNumber)
    lastOrigin = new
    return new
  }

  /// How much room for rows is kept from one update to the next.
  private static let keptCountMaximum = 1_024

  init(_ context: PipelineContext) {
    self.context = context
    regenerator = Regenerator(watch: watch)
  }

  var deliverer: Deliverer { context.deliverer }

  func isCurrent(_ epoch: UInt64) -> Bool { context.epoch.withLock { $0 == epoch } }

  /// Works out an update, publishes it in one step, and queues what is to be told.
  package func apply(_ update: LiveUpdate) { publish(stage(update)) }

  /// Works out an update; it has to be published before the next one is staged.
  package func stage(_ update: LiveUpdate) -> StagedUpdate {
    updateNumber += 1
    if journal.isOpen { journal.note(update) }
    lastOrigin = nil
    source = (update.context, update.date)
    reportGiven(update)
    noteVanished(update)
    regenerator.begin(
      update, besides: vanished, keepsReplacements: context.reporter.hasDelegate)
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
    // Before the watch is set: what a listener's own code starts here would inherit it.
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

  /// Whether the root of a tree was deleted in memory only.
  package func hasVanished(_ tree: any SimpleModel) -> Bool {
    guard !vanished.isEmpty, let identifier = tree.modelIdentifier else { return false }
    return vanished.contains(ByteString(identifier))
  }

  /// Forgets that nodes were deleted in memory only: they are set, deleted or asked for.
  package func bringBack(_ nodes: some Sequence<ByteString>) {
    if !vanished.isEmpty { vanished.subtract(nodes) }
  }

  private func noteVanished(_ update: LiveUpdate) {
    if !vanished.isEmpty {
      bringBack(update.versions.keys)
      bringBack(update.deleted)
    }
    if !update.vanished.isEmpty { vanished.formUnion(update.vanished) }
  }

  /// The nodes that an update carries without changing anything for whoever is settled on them.
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

  /// Lets the holders after the one that is asked add to what it has staged.
  ///
  /// - Parameter group: What the holder goes on to return.
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
          reason: "occurs several times in one tree with different content; the last one counts")
      })
  }

  /// Publishes changes in one step and queues what is to be told of them.
  package func publish(_ changes: [any StagedChange], _ update: LiveUpdate) {
    publish(StagedUpdate(changes: changes, update: update))
  }

  private func publish(_ staged: StagedUpdate) {
    if !staged.changes.isEmpty { context.pipeline.publishing.writing { staged.publish() } }
    tell(staged)
  }

  /// Queues what is to be told of an update that has been published.
  package func tell(_ staged: StagedUpdate) {
    let (changes, update) = (staged.changes, staged.update)
    guard let tellListeners = staged.tellListeners, !update.carriesNothing else {
      if changes.contains(where: \.isTold) { deliver { Delivery.deliver(changes) } }
      return
    }
    deliver {
      Delivery.deliver(changes)
      tellListeners(update)
    }
  }

  /// Queues what is to be told of something else than an update.
  package func tell(_ call: @escaping @Sendable () -> Void) { deliver(call) }

  /// Queues what is to be told.
  private func deliver(_ call: @escaping @Sendable () -> Void) {
    if context.deliverer.add(call) {
      owesDelivery = true
      owe()
    }
  }

  /// Has something done once for what is worked out now and what follows at once.
  package func afterwards(_ work: @escaping @Sendable () -> Void) {
    afterwards.append(work)
    owe()
  }

  private func owe() {
    if exchange(&isOwing, with: true) { return }
    context.pipeline.owing.scopes.append(self)
  }

  /// Does what was left for afterwards.
  ///
  /// - Returns: Whether the caller has to have callbacks made.
  func finishAfterwards() -> Bool {
    isOwing = false
    if !afterwards.isEmpty {
      for work in exchange(&afterwards, with: []) { work() }
    }
    return exchange(&owesDelivery, with: false)
  }

  /// What the update that is being worked out makes of a tree; `nil` if it stays as it is.
  ///
  /// - Parameters:
  ///   - tree: A tree.
  ///   - isConcerned: Whether it is registered for a node of the update.
  /// - Returns: The new tree.
  package func regenerate(_ tree: any SimpleModel, isConcerned: Bool = false) -> Regeneration? {
    regenerator.regenerate(tree, isConcerned: isConcerned)
  }

  /// What the update that is being worked out makes of a registered tree.
  ///
  /// A holder that takes all its updates this way, and keeps its trees for ``LiveHolder/tree(ofRow:)``,
  /// is not asked about updates that carry a node without changing it.
  ///
  /// - Parameters:
  ///   - tree: Exactly what is registered for the row.
  ///   - holder: The owner.
  ///   - row: Which of its trees.
  /// - Returns: `nil` if the tree stays as it is; else to be passed on to ``register(_:row:_:)``.
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

  /// Notes that a row has taken the update at work.
  private func resolve(_ holder: UInt64, _ row: LiveRow) {
    guard mark != 0 else { return }
    if asked.isRow(holder, row) {
      resolved.append(asked.number)
      return
    }
    hasResolved = true
    context.registry.withLock { $0.resolve(holder, row, mark) }
  }

  /// What the update makes of a tree, and whether that holds the same nodes.
  func regenerateModel(
    _ tree: any Model
  ) -> (model: (any Model)?, updates: ModelUpdates, hasSameNodes: Bool)? {
    regenerator.regenerate(tree, registeredCount: asked.nodeCount).map {
      ($0.model, $0.updates, regenerator.hasSameNodes)
    }
  }

  /// Reports a mistake to the manager's delegate.
  package func report(_ mistake: ConsistencyError) { context.reporter.report([mistake]) }

  /// Begins to keep a holder; its trees are registered one by one.
  package func add(_ holder: any LiveHolder) { registry { $0.add(holder) } }

  /// Changes the registry; what was found of the holder that is asked does not hold any more.
  private func registry(_ body: (inout LiveRegistry) -> Void) {
    asked.number = -1
    context.registry.withLock(body)
  }

  /// Forgets a holder with all its trees; its topics have been unsubscribed before.
  package func remove(_ holder: any LiveHolder) {
    registry { $0.remove(holder: holder.number) }
  }

  /// Replaces the tree of a row in the registry.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: Which of its trees.
  ///   - old: The tree that is registered; `nil` if there is none.
  ///   - new: The tree from now on; `nil` to unregister it.
  package func register(
    _ holder: any LiveHolder, row: LiveRow, old: (any SimpleModel)?, new: (any SimpleModel)?
  ) {
    registry { $0.unsettle(holder.number, row) }
    setTrees(holder, row: row, new.map { [$0] } ?? [])
  }

  /// Puts a tree in the registry for a holder that will take its updates by
  /// ``regenerate(_:of:row:)``, and keeps its trees for ``LiveHolder/tree(ofRow:)``.
  ///
  /// - Parameters:
  ///   - holder: The owner, for which no tree is registered.
  ///   - row: Which of its trees.
  ///   - tree: The tree from now on.
  package func registerFirst(_ holder: any LiveHolder, row: LiveRow, _ tree: any SimpleModel) {
    guard let root = ModelTypes.asModel(tree) else {
      return setTrees(holder, row: row, [tree])
    }
    var nodes: [LiveRegistry.Node] = []
    var models: [any Model] = []
    TreeNodes.forEach(of: root) { model, identifier in
      nodes.append((ByteString(identifier), type(of: model)))
      models.append(model)
    }
    var candidates: [LiveRegistry.Candidate] = []
    registry { candidates = $0.setFirstNodes(nodes, of: holder.number, row: row) }
    guard !candidates.isEmpty else { return }
    // Compared outside the lock: it runs the models' own code.
    candidates.removeAll { candidate in
      guard let other = candidate.spokesman.node else { return true }
      return !other.isEqual(to: models[candidate.index])
    }
    if !candidates.isEmpty { registry { $0.settle(candidates) } }
  }

  /// Replaces the tree of a row in the registry by what an update made of it.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: Which of its trees.
  ///   - regeneration: What ``regenerate(_:)`` returned for the tree that is registered.
  package func register(
    _ holder: any LiveHolder, row: LiveRow, _ regeneration: Regeneration
  ) {
    if !regeneration.hasSameNodes {
      setTrees(holder, row: row, regeneration.model.map { [$0] } ?? [])
    }
    if regeneration.isAsCarried { resolve(holder.number, row) }
  }

  /// Replaces the tree of a row in the registry by the one that its holder has given to the update at
  /// work.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: Which of its trees.
  ///   - tree: The only tree that was given.
  ///   - update: The update at work.
  ///   - isUsable: Whether the holder can show another one in its place.
  /// - Returns: What else the update carries has made of the tree; `nil` if it is shown as it is.
  package func registerOwn(
    _ holder: any LiveHolder, row: LiveRow, _ tree: any SimpleModel, _ update: LiveUpdate,
    _ isUsable: (any SimpleModel) -> Bool
  ) -> (any SimpleModel)? {
    regenerator.mergesOddly = false
    let regeneration = regenerator.regenerate(tree)
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
    return other
  }

  /// Makes a row hold exactly the nodes of some trees.
  func setTrees(_ holder: any LiveHolder, row: LiveRow, _ trees: [any SimpleModel]) {
    var nodes: [LiveRegistry.Node] = []
    for tree in trees { TreeNodes.append(tree, to: &nodes) }
    registry { $0.setNodes(nodes, of: holder.number, row: row) }
  }

  /// Registers a row for an identifier that is not there yet.
  package func registerAbsent(
    _ holder: any LiveHolder, row: LiveRow, identifier: String, as type: any SimpleModel.Type
  ) {
    registry { $0.await(ByteString(identifier), type, of: holder.number, row: row) }
  }

  /// Ends what ``registerAbsent(_:row:identifier:as:)`` began.
  package func unregisterAbsent(_ holder: any LiveHolder, row: LiveRow, identifier: String) {
    registry { $0.endAwaiting(ByteString(identifier), of: holder.number, row: row) }
  }

  /// Has a holder asked when an update touches a topic.
  package func subscribe(_ holder: any LiveHolder, to topic: String) {
    context.registry.withLock {
      _ = $0.topics[ByteString(topic), default: []].insert(holder.number)
    }
  }

  /// Ends what ``subscribe(_:to:)`` began.
  package func unsubscribe(_ holder: any LiveHolder, from topic: String) {
    context.registry.withLock { registry in
      let key = ByteString(topic)
      registry.topics[key]?.remove(holder.number)
      if registry.topics[key]?.isEmpty == true { registry.topics[key] = nil }
    }
  }
}

/// An update that is worked out and not shown yet.
package struct StagedUpdate {
  fileprivate let changes: [any StagedChange]
  fileprivate let update: LiveUpdate
  /// Tells those who listen to every update, if there were any.
  fileprivate let tellListeners: (@Sendable (LiveUpdate) -> Void)?

  fileprivate init(
    changes: [any StagedChange], update: LiveUpdate,
    tellListeners: (@Sendable (LiveUpdate) -> Void)? = nil
  ) {
    self.changes = changes
    self.update = update
    self.tellListeners = tellListeners
  }

  /// Whether nothing changes.
  package var isEmpty: Bool { changes.isEmpty }

  /// Shows it; with the pipeline's publishing lock held for writing.
  package func publish() { for change in changes { change.publish() } }
}
