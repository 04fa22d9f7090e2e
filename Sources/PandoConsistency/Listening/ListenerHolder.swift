import FoundationEssentials
import PandoModels
import PandoSystem

/// A listener as the manager keeps it: by a weak reference, with what is on its way to it.
///
/// The pipeline stages changes, numbered from 1, and the delivery target tells them. As long as some
/// are untold the pipeline goes on from its own newest result instead of the listener's model.
final class ListenerHolder: LiveHolder {
  struct State {
    var isRemoved = false
    /// Paused by a call, and as a member of a batch.
    var isPausedAlone = false
    var isPausedInBatch = false
    /// Whether the pipeline keeps changes back until the holder catches up.
    var keepsBack = false
    /// Whether the delivery target keeps changes back until the holder catches up.
    var folds = false
    var isBacklogged = false

    /// The last change staged and the last one told or dropped.
    var staged: UInt64 = 0
    var told: UInt64 = 0
    /// Changes up to this one belong to a root that the listener has left.
    var abandoned: UInt64 = 0
    /// How many calls are on their way.
    var queuedCount = 0

    /// The newest tree, its root and the root's type, while changes are untold.
    var newest: (any Model)?
    var root: String?
    var rootType: (any SimpleModel.Type)?
    /// The tree that the update at work starts from.
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

  /// Begins to listen to a tree.
  ///
  /// On the pipeline.
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

  /// Forgets the listener.
  ///
  /// On the pipeline.
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

  /// What a listener shows once everything that is on its way has been told.
  ///
  /// Its own code runs outside the lock. If a change was told meanwhile it is asked again: what it
  /// showed before must not be taken for what it shows now.
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

  /// Makes a change the newest one; it is told at once or kept back.
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
          reason: "a listener has \(limit) callbacks waiting; it catches up with one later"))
    }
    return staged
  }

  /// A root that is deleted is heard of no more; a listener that stands still waits for its return,
  /// because what is gone and back again was never gone for it.
  private func leaveDeletedRoot(_ base: any Model, _ scope: PipelineScope) {
    scope.setTrees(self, row: 0, [])
    guard let root = base.modelIdentifier, state.withLock({ $0.keepsBack }) else { return }
    scope.registerAbsent(self, row: 0, identifier: root, as: type(of: base))
  }

  /// A root that was deleted while the listener stood still is back.
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

  /// Ends everything.
  mutating func remove() {
    isRemoved = true
    isPausedAlone = false
    isPausedInBatch = false
    base = nil
    abandon()
  }

  /// What the listener shows once everything that is on its way has been told.
  ///
  /// - Parameter current: What it shows now.
  /// - Returns: The tree that an update starts from.
  mutating func base(_ current: (any Model)?) -> (any Model)? {
    guard isAhead else { return current }
    if let current, !ListenerHolder.sameText(current.modelIdentifier, root) {
      // It has moved to another root: what is on its way is not for it any more.
      abandon()
      return current
    }
    return newest
  }

  /// Forgets everything that is on its way.
  mutating func abandon() {
    abandoned = staged
    told = staged
    newest = nil
    keptBack = nil
    folded = nil
  }
}
