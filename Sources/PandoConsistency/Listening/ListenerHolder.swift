import FoundationEssentials
import PandoModels
import PandoRecords
import PandoSystem

/// A listener in the manager: a weak reference, and its undelivered changes.
///
/// The pipeline stages changes, numbered from 1, and the delivery target delivers them. While
/// changes are undelivered, the pipeline starts from its own newest result instead of the
/// listener's model.
///
/// - `newest`, `root` and `rootType` are valid while `staged` and `told` differ.
/// - `keptBack` grows on the pipeline while `keepsBack` is true; `folded` grows on the delivery
///   target while `folds` is true.
/// - The lock of `state` guards all mutable properties.
final class ListenerHolder: LiveHolder {
  struct State {
    var isRemoved = false
    /// Paused by a call, or as a member of a batch.
    var isPausedAlone = false
    var isPausedInBatch = false
    /// True if the pipeline holds changes back until `catchUp` runs.
    var keepsBack = false
    /// True if the delivery target holds changes back until `catchUp` is delivered.
    var folds = false
    var isBacklogged = false

    /// The numbers of the last staged change, and of the last one delivered or dropped.
    var staged: UInt64 = 0
    var told: UInt64 = 0
    /// Changes up to this number belong to a root that the listener no longer shows.
    var abandoned: UInt64 = 0
    /// The count of queued calls.
    var queuedCount = 0

    /// The newest tree, its root and the root's type, while changes are undelivered.
    var newest: (any Model)?
    var root: String?
    var rootType: (any SimpleModel.Type)?
    /// The tree from which the running update starts.
    var base: (any Model)?
    var isDead = false

    var keptBack: HeldChanges?
    var folded: HeldChanges?
    var lastUpdated: Date?
    weak var batch: (any LiveBatch)?

    var isPaused: Bool { isPausedAlone || isPausedInBatch }
    var isAhead: Bool { staged != told }
  }

  let number: UInt64
  weak let listener: (any ConsistencyManagerListener)?
  weak let manager: (any ListenerKeeper)?
  private let backlogLimit: Int
  let state = Locked(State())

  init(_ listener: any ConsistencyManagerListener, _ manager: any ListenerKeeper) {
    number = manager.makeHolderNumber()
    backlogLimit = manager.backlogLimit
    self.listener = listener
    self.manager = manager
  }

  /// Registers the listener for a tree.
  ///
  /// Called on the pipeline.
  func listen(to model: (any Model)?, _ scope: PipelineScope) {
    guard !state.withLock({ $0.isRemoved }) else { return }
    guard let listener else { return }
    let shown = base(listener)
    var trees: [any Model] = []
    if let model { trees.append(model) }
    if let shown, trees.allSatisfy({ !Self.haveSameRoot($0, shown) }) { trees.append(shown) }
    scope.add(self)
    scope.setTrees(self, row: 0, trees)
  }

  /// Removes the listener from the registry.
  ///
  /// Called on the pipeline.
  func leave(_ scope: PipelineScope) { scope.remove(self) }

  func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel] {
    guard asksListeners, !state.withLock({ $0.isRemoved }) else { return [] }
    return base(listener).map { [ModelBoxes.simple($0)] } ?? []
  }

  func prepare() {
    let listener = listener
    let base = base(listener)
    state.withLock { state in
      state.isDead = listener == nil
      state.base = base
    }
  }

  /// Returns the tree that the listener has after all queued changes.
  ///
  /// The listener's own code runs outside the lock. If a change is delivered meanwhile, it runs
  /// again, because the first result may be the model before that change.
  private func base(_ listener: (any ConsistencyManagerListener)?) -> (any Model)? {
    while true {
      let told = state.withLock { $0.told }
      let current = listener?.currentModel()
      let base = state.withLock { state -> (any Model)?? in
        state.told == told ? .some(state.base(current)) : nil
      }
      if let base { return base }
    }
  }

  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    let (base, isGone) = state.withLock { state in
      (state.base.take(), state.isDead || state.isRemoved)
    }
    if isGone {
      manager?.forget(self)
      scope.remove(self)
      return nil
    }
    guard let base else { return stageReturn(of: update, scope) }
    guard let result = scope.regenerateModel(base) else { return nil }
    let staged = take(result.model, base, result.updates, scope)
    if !result.hasSameNodes {
      if let model = result.model {
        scope.setTrees(self, row: 0, [model])
      } else {
        leaveDeletedRoot(base, scope)
      }
    }
    return staged
  }

  /// Makes a change the newest one, and queues it or holds it back.
  private func take(
    _ model: (any Model)?, _ base: any Model, _ updates: ModelUpdates, _ scope: PipelineScope
  ) -> ListenerChange? {
    let limit = backlogLimit
    let root = base.modelIdentifier
    let origin = scope.origin
    let (staged, reachesLimit) = state.withLock { state -> (ListenerChange?, Bool) in
      state.staged += 1
      state.newest = model
      state.root = root
      state.rootType = type(of: base)
      let reachesLimit = !state.keepsBack && state.queuedCount >= limit
      if reachesLimit {
        state.keepsBack = true
        state.isBacklogged = true
      }
      if state.keepsBack {
        state.keepBack(HeldChanges(updates, origin))
        if let model { state.keptBack?.revive(in: model) }
        return (nil, reachesLimit)
      }
      state.queuedCount += 1
      return (ListenerChange(self, state.staged, root, model, updates, origin), false)
    }
    if reachesLimit {
      scope.report(
        ConsistencyError(
          .backlogLimitReached, identifier: root, type: type(of: base),
          reason: "a listener has \(limit) queued callbacks; it pauses until they are delivered"))
    }
    return staged
  }

  /// Unregisters a deleted root.
  ///
  /// A paused listener waits for the identifier. A node that is deleted and set again during a
  /// pause is reported as changed.
  private func leaveDeletedRoot(_ base: any Model, _ scope: PipelineScope) {
    scope.setTrees(self, row: 0, [])
    guard let root = base.modelIdentifier, state.withLock({ $0.keepsBack }) else { return }
    scope.registerAbsent(self, row: 0, identifier: root, as: type(of: base))
  }

  /// Stages the return of a root that was deleted during the pause.
  private func stageReturn(of update: LiveUpdate, _ scope: PipelineScope) -> (any StagedChange)? {
    let (root, type) = state.withLock { state in
      state.keepsBack && state.isAhead && state.newest == nil
        ? (state.root, state.rootType) : (nil, nil)
    }
    guard let root, let type,
      let model = update.versions[ByteString(root)]?.model(as: type) as? any Model
    else { return nil }
    let change = HeldChanges(ModelUpdates(changedModelIdentifiers: [root]), scope.origin)
    state.withLock { state in
      state.staged += 1
      state.newest = model
      state.keepBack(change)
      state.keptBack?.revive(in: model)
    }
    scope.unregisterAbsent(self, row: 0, identifier: root)
    scope.setTrees(self, row: 0, [model])
    return nil
  }

  static func haveSameRoot(_ left: any Model, _ right: any Model) -> Bool {
    sameText(left.modelIdentifier, right.modelIdentifier)
  }

  static func sameText(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.hasSameBytes(as: right)
  }
}

extension ListenerHolder.State {
  mutating func keepBack(_ change: HeldChanges) {
    if keptBack == nil { keptBack = change } else { keptBack?.add(change) }
  }

  mutating func fold(_ change: HeldChanges) {
    if folded == nil { folded = change } else { folded?.add(change) }
  }

  /// Ends all activity of the holder.
  mutating func remove() {
    isRemoved = true
    isPausedAlone = false
    isPausedInBatch = false
    base = nil
    abandon()
  }

  /// Returns the tree that the listener has after all queued changes.
  ///
  /// - Parameter current: The listener's current model.
  /// - Returns: The tree from which an update starts.
  mutating func base(_ current: (any Model)?) -> (any Model)? {
    guard isAhead else { return current }
    if let current, !ListenerHolder.sameText(current.modelIdentifier, root) {
      // The listener shows another root, so the queued changes no longer apply to it.
      abandon()
      return current
    }
    return newest
  }

  /// Drops all undelivered changes.
  mutating func abandon() {
    abandoned = staged
    told = staged
    newest = nil
    keptBack = nil
    folded = nil
  }
}
