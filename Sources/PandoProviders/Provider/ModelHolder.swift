import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The core of a ``DataProvider``: its model, its place in the registry, and what it has set itself.
///
/// ```
/// shown = paused ? what stood when it was paused : last uncommitted set of its own ?? committed
/// ```
/// The committed model is replaced on the pipeline only and is always the one that is registered; what
/// callers do they do under the lock. Models are kept boxed, so that all who show one share its box, and
/// the holder is not generic, so that nothing has to be looked up for its type at each update.
final class ModelHolder: LiveHolder {
  /// The rows under which it is registered: its tree, and identifiers that it waits for.
  static var treeRow: LiveRow { 0 }
  static var absentRow: LiveRow { 1 }

  /// Gets what is shown, and the context of the change.
  typealias ModelUpdated = @Sendable ((any SimpleModel)?, (any Sendable)?) -> Void

  struct State {
    weak var provider: (any ToldProvider)?
    weak var delegate: (any DataProviderDelegate)?
    /// The committed model, as registered.
    var base: (any SimpleModel)?
    /// Own sets that are not committed.
    var pending = PendingSets()
    /// The identifier whose coming is awaited while there is no committed model.
    var waitingFor: String?
    /// When what is shown was changed.
    var lastUpdated: Date?
    /// `setData(nil)` calls that the pipeline has not come to: until then `base` is not shown.
    var lastClear: UInt32 = 0
    /// The last of them that the pipeline has come to.
    var finishedClear: UInt32 = 0
    /// Callbacks that are queued.
    var undelivered: Int32 = 0
    /// Grows with every set and fetch of the provider itself.
    var lastAction: UInt64 = 0
    /// The action whose result is shown; an answer to an older fetch is ignored.
    var applied: UInt64 = 0
    /// Grows with what the provider does itself; callbacks from before are dropped.
    var epoch: UInt64 = 0
    var isAttached = false
    /// What `withObservationTracking` hears of reads and changes from.
    var tracking: ProviderTracking?
    var rare: Rare?

    /// What few providers need.
    final class Rare {
      var pause: ProviderPause?
      var fetches: [CacheFetch] = []
      /// What `listen(to:)` was called with, until the pipeline comes to it.
      var announced: String?
      weak var batch: BatchCore?
      /// What is called before the delegate.
      var modelUpdated: ModelUpdated?
      /// What observers pull from.
      var observed: ObservedState<(any SimpleModel)?>?
    }

    var pause: ProviderPause? { rare?.pause }

    /// What `data` gives.
    var shown: (any SimpleModel)? {
      if let pause = rare?.pause, pause.isPaused { return pause.frozen }
      return current
    }

    /// What `data` gives when the provider is not paused.
    var current: (any SimpleModel)? {
      if let last = pending.last { return last.root }
      return committed
    }

    /// Whether the committed model is what is shown, but for a pause.
    @inline(__always) var showsCommitted: Bool { !isCleared && pending.isEmpty }
    /// Whether the pipeline has still to come to a `clear`.
    @inline(__always) var isCleared: Bool { lastClear != finishedClear }

    /// The committed value.
    var committed: (any SimpleModel)? { isCleared ? nil : base }

    mutating func makeRare() -> Rare {
      if let rare { return rare }
      let new = Rare()
      rare = new
      return new
    }
  }

  /// The type of the models.
  let type: any SimpleModel.Type
  let number: UInt64
  let manager: DataModelManager
  let state: Locked<State>

  init(_ type: any SimpleModel.Type, _ manager: DataModelManager) {
    self.type = type
    self.manager = manager
    number = manager.consistencyManager.makeHolderNumber()
    state = Locked(State())
  }

  /// What is shown.
  var data: (any SimpleModel)? { state.withLock { $0.shown } }

  /// What is shown, to somebody who may track what is read.
  var trackedData: (any SimpleModel)? {
    let (tracking, shown) = state.withLock { ($0.makeTracking(), $0.shown) }
    tracking.readData()
    return shown
  }

  /// What is committed.
  var committed: (any SimpleModel)? { state.withLock { $0.committed } }

  /// Whether a model is one that this holder can show.
  func isShowable(_ model: any SimpleModel) -> Bool {
    if Swift.type(of: model) == type { return true }
    let shown = type
    return Self.isKind(model, of: shown)
  }

  private static func isKind<M: SimpleModel>(_ model: any SimpleModel, of type: M.Type) -> Bool {
    model is M
  }

  static func same(_ left: (any SimpleModel)?, _ right: (any SimpleModel)?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.isEqual(to: right)
  }
}

extension ModelHolder {
  /// Shows a model at once and queues the change.
  func set(_ model: any SimpleModel, updatesCache: Bool, context: (any Sendable)?) -> PendingWrite {
    if let refusal = manager.refusal(of: model) {
      return manager.refuse(refusal, model.modelIdentifier.map { [$0] } ?? [], context)
    }
    let operation = SetOperation(
      model, isWritten: updatesCache, context: context, holder: self)
    let old = state.withLock { state in
      attach(&state)
      state.beginAction()
      state.pending.append(operation)
      state.lastUpdated = operation.date
      let old = state.pause?.restart(showing: operation.root)
      manager.perform(operation, updatesCache: updatesCache)
      return old
    }
    withExtendedLifetime(old) {}  // ends outside the lock
    return operation.outcome
  }

  /// Shows nothing any more, and waits for nothing.
  ///
  /// - Returns: Ends when the pipeline has let go of what was shown; at once if nothing ever was.
  @discardableResult
  func clear() -> PendingWrite {
    let outcome = PendingWrite()
    let old = state.withLock { state -> (PendingSets, (any SimpleModel)?)? in
      guard state.isAttached else { return nil }
      state.beginAction()
      state.lastClear += 1
      let number = state.lastClear
      state.lastUpdated = Date()
      let old = state.pause?.restart(showing: nil)
      state.rare?.observed?.publish(nil)
      manager.consistencyManager.enqueue { scope in
        self.finishClear(number, scope)
        outcome.finish(.success(nil))
      }
      return (exchange(&state.pending, with: PendingSets()), old)
    }
    if old == nil { outcome.finish(.success(nil)) }
    withExtendedLifetime(old) {}
    return outcome
  }

  /// Forgets everything when the provider has gone.
  func detach() {
    detachObservers()
    let isAttached = state.withLock { state in
      state.pending = PendingSets()
      return state.isAttached
    }
    guard isAttached else { return }
    manager.consistencyManager.enqueue { [self] scope in
      forget(scope)
      let fetches = state.withLock { state in exchange(&state.makeRare().fetches, with: []) }
      for fetch in fetches {
        scope.unregisterAbsent(self, row: Self.absentRow, identifier: fetch.identifier)
      }
      scope.remove(self)
    }
  }

  /// Makes the pipeline know the holder; the caller has the lock.
  func attach(_ state: inout State) {
    guard !state.isAttached else { return }
    state.isAttached = true
    manager.consistencyManager.add(self)
  }

  private func finishClear(_ number: UInt32, _ scope: PipelineScope) {
    // A group may have come to a later set before.
    guard state.withLock({ $0.finishedClear < number }) else { return }
    forget(scope)
    state.withLock { $0.finishedClear = max($0.finishedClear, number) }
  }

  /// Unregisters the tree, or what is awaited.
  private func forget(_ scope: PipelineScope) {
    let (base, waitingFor) = state.withLock { state in
      (exchange(&state.base, with: nil), exchange(&state.waitingFor, with: nil))
    }
    if let base { scope.register(self, row: Self.treeRow, old: base, new: nil) }
    if let waitingFor { unregisterAbsent(waitingFor, scope) }
  }

  /// Takes a set back that has failed, and shows what is there without it.
  func takeBack(_ operation: SetOperation, _ scope: PipelineScope) {
    let shown = state.withLock { state -> (any SimpleModel)?? in
      guard let wasLast = state.pending.remove(operation), wasLast else { return nil }
      return .some(state.current)
    }
    guard let shown, !Self.same(shown, operation.root) else { return }
    var update = LiveUpdate()
    update.context = operation.context
    scope.publish([StagedModels(self, .replay, update)], update)
  }
}

extension ModelHolder.State {
  /// Begins something that the provider does itself: what is older no longer counts for it.
  mutating func beginAction() {
    lastAction += 1
    applied = lastAction
    epoch += 1
    rare?.announced = nil
  }
}

/// A provider, as its holder knows it.
protocol ToldProvider: AnyDataProvider {
  /// Calls a delegate.
  func tell(_ delegate: any DataProviderDelegate, context: (any Sendable)?)
}
