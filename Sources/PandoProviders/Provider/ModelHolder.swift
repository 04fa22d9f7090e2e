import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The core of a ``DataProvider``: its model, its registration and its own pending sets.
///
/// ```
/// shown = paused ? the model when the pause began : last uncommitted set of its own ?? committed
/// ```
/// The committed model is replaced on the pipeline only, and is always the registered one. Calls of
/// users change the other state under the lock. Models are stored type-erased, so that all
/// providers share one box. The holder is not generic, which saves lookups of its type at each
/// update.
final class ModelHolder: LiveHolder {
  /// The rows of its registrations: its tree, and awaited identifiers.
  static var treeRow: LiveRow { 0 }
  static var absentRow: LiveRow { 1 }

  /// Gets the shown model, and the context of the change.
  typealias ModelUpdated = @Sendable ((any SimpleModel)?, (any Sendable)?) -> Void

  struct State {
    weak var provider: (any ToldProvider)?
    weak var delegate: (any DataProviderDelegate)?
    /// The committed model, as registered.
    var base: (any SimpleModel)?
    /// The provider's own sets that are not committed.
    var pending = PendingSets()
    /// The awaited identifier while there is no committed model.
    var waitingFor: String?
    /// The time of the last change of the shown model.
    var lastUpdated: Date?
    /// The number of the last `setData(nil)`.
    ///
    /// While the pipeline has not carried it out, `base` is not shown.
    var lastClear: UInt32 = 0
    /// The number of the last `setData(nil)` that the pipeline has carried out.
    var finishedClear: UInt32 = 0
    /// The count of queued callbacks.
    var undelivered: Int32 = 0
    /// Grows with each set and fetch of the provider itself.
    var lastAction: UInt64 = 0
    /// The action whose result is shown.
    ///
    /// The answer to an older fetch is ignored.
    var applied: UInt64 = 0
    /// Grows with the provider's own changes.
    ///
    /// Older callbacks are dropped.
    var epoch: UInt64 = 0
    var isAttached = false
    /// Reports reads and changes to `withObservationTracking`.
    var tracking: ProviderTracking?
    var rare: Rare?

    /// State that few providers need.
    final class Rare {
      var pause: ProviderPause?
      var fetches: [CacheFetch] = []
      /// The argument of `listen(to:)`, until the pipeline has carried it out.
      var announced: String?
      weak var batch: BatchCore?
      /// The closure that is called before the delegate.
      var modelUpdated: ModelUpdated?
      /// The state from which observers pull.
      var observed: ObservedState<(any SimpleModel)?>?
    }

    var pause: ProviderPause? { rare?.pause }

    /// The value of `data`.
    var shown: (any SimpleModel)? {
      if let pause = rare?.pause, pause.isPaused { return pause.frozen }
      return current
    }

    /// The value of `data` when the provider is not paused.
    var current: (any SimpleModel)? {
      if let last = pending.last { return last.root }
      return committed
    }

    /// True if the committed model is shown, apart from a pause.
    @inline(__always) var showsCommitted: Bool { !isCleared && pending.isEmpty }
    /// True if the pipeline has not carried out the last `clear`.
    @inline(__always) var isCleared: Bool { lastClear != finishedClear }

    var committed: (any SimpleModel)? { isCleared ? nil : base }

    mutating func makeRare() -> Rare {
      if let rare { return rare }
      let new = Rare()
      rare = new
      return new
    }
  }

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

  /// The shown model.
  var data: (any SimpleModel)? { state.withLock { $0.shown } }

  /// The shown model; records a tracked read.
  var trackedData: (any SimpleModel)? {
    let (tracking, shown) = state.withLock { ($0.makeTracking(), $0.shown) }
    tracking.readData()
    return shown
  }

  var committed: (any SimpleModel)? { state.withLock { $0.committed } }

  /// Returns true if this holder can show a model.
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

  /// Clears the shown model and ends the waiting for an identifier.
  ///
  /// - Returns: A write that ends when the pipeline has unregistered the old model; at once if
  ///   nothing was ever shown.
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

  /// Ends all registrations when the provider is released.
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

  /// Registers the holder with the pipeline; the caller holds the lock.
  func attach(_ state: inout State) {
    guard !state.isAttached else { return }
    state.isAttached = true
    manager.consistencyManager.add(self)
  }

  private func finishClear(_ number: UInt32, _ scope: PipelineScope) {
    // A group may have carried out a later set before.
    guard state.withLock({ $0.finishedClear < number }) else { return }
    forget(scope)
    state.withLock { $0.finishedClear = max($0.finishedClear, number) }
  }

  /// Unregisters the tree, or the awaited identifier.
  private func forget(_ scope: PipelineScope) {
    let (base, waitingFor) = state.withLock { state in
      (exchange(&state.base, with: nil), exchange(&state.waitingFor, with: nil))
    }
    if let base { scope.register(self, row: Self.treeRow, old: base, new: nil) }
    if let waitingFor { unregisterAbsent(waitingFor, scope) }
  }

  /// Removes a failed set, and shows the state without it.
  func takeBack(_ operation: SetOperation, _ scope: PipelineScope) {
    let shown = state.withLock { state -> (any SimpleModel)?? in
      guard let wasLast = state.pending.remove(operation), wasLast else { return nil }
      return .some(state.current)
    }
    guard let shown, !Self.same(shown, operation.root) else { return }
    scope.publish([StagedModels(self, .replay, operation.context)])
  }
}

extension ModelHolder.State {
  /// Begins an own change of the provider; older results no longer apply to it.
  mutating func beginAction() {
    lastAction += 1
    applied = lastAction
    epoch += 1
    rare?.announced = nil
  }
}

/// A provider as seen by its holder.
protocol ToldProvider: AnyDataProvider {
  /// Calls a delegate.
  func tell(_ delegate: any DataProviderDelegate, context: (any Sendable)?)
}
