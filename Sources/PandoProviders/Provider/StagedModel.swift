import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The effect of an update on one provider.
struct StagedModel {
  enum Kind {
    /// The tree was changed by another holder, the manager or the store.
    case elsewhere
    /// An own set is committed. `isOther` is true if the committed model differs from it.
    indirect case own(SetOperation, isOther: Bool)
    /// An own set is committed, and later commits of the same update have deleted its root.
    indirect case lost(SetOperation)
    /// An awaited or fetched identifier has arrived, with the number of the fetch that it answers.
    indirect case arrived(UInt64)
    /// The root is deleted; with its identifier.
    indirect case deleted(String?)
    /// A fetch is answered: its number, and the awaited identifier if nothing was found.
    indirect case answered(UInt64, awaited: String?, tells: Bool)
    /// An own set has failed.
    case replay
    case resumed
  }

  /// The origin of a change.
  struct Cause {
    let context: (any Sendable)?
    let date: Date
    let limit: Int32

    init(_ context: (any Sendable)?, _ date: Date, _ manager: DataModelManager) {
      self.context = context
      self.date = date
      limit = Int32(clamping: manager.limits.undeliveredCallbacksMaximum)
    }
  }

  private let holder: ModelHolder
  private let kind: Kind
  /// The new committed model.
  ///
  /// After publishing it is the old one, which is released outside all locks.
  private var model: (any SimpleModel)?
  private var epoch: UInt64 = 0
  private var tells = false
  private var reachedLimit = false

  /// The number of the last `clear` before an own set.
  private let clear: UInt32

  init(
    _ holder: ModelHolder, _ kind: Kind, model: (any SimpleModel)? = nil, after clear: UInt32 = 0
  ) {
    self.holder = holder
    self.kind = kind
    self.model = model
    self.clear = clear
  }

  /// Publishes the new state.
  ///
  /// - Returns: True if a callback is due.
  mutating func publish(_ cause: Cause) -> Bool {
    let isTracked = holder.state.withLock { state in
      publish(&state, cause)
      // A read tracked from now on returns the new data.
      return state.tracking != nil
    }
    if reachedLimit { holder.manager.reportLimit(holder.type) }
    return tells || reachedLimit || (isTracked && changesData)
  }

  private mutating func publish(_ state: inout ModelHolder.State, _ cause: Cause) {
    // Not read through the state's property, which would copy the state.
    let showsCommitted = !state.isCleared && state.pending.isEmpty
    let before = state.undelivered >= cause.limit && state.rare?.pause == nil ? state.shown : nil
    switch kind {
    case .elsewhere:
      swap(&state.base, &model)
      tells = showsCommitted
    case .own(let operation, let isOther):
      swap(&state.base, &model)
      state.waitingFor = nil
      state.finishedClear = max(state.finishedClear, clear)
      state.pending.removeThrough(operation)
      tells = isOther && state.showsCommitted
    case .lost(let operation):
      swap(&state.base, &model)
      state.waitingFor = operation.root.modelIdentifier
      state.finishedClear = max(state.finishedClear, clear)
      state.pending.removeThrough(operation)
      tells = state.showsCommitted
    case .arrived(let action):
      swap(&state.base, &model)
      state.waitingFor = nil
      tells = showsCommitted
      state.applied = max(state.applied, action)
    case .deleted(let identifier):
      swap(&state.base, &model)
      state.waitingFor = identifier
      tells = showsCommitted
    case .answered(let action, let awaited, let tells):
      swap(&state.base, &model)
      state.waitingFor = awaited
      if action > state.applied {
        state.pending = PendingSets()
        state.applied = action
        state.epoch += 1
        state.lastUpdated = cause.date
        state.rare?.announced = nil
        if !tells { _ = state.pause?.restart(showing: state.current) }
        self.tells = tells
      }
    case .replay, .resumed:
      tells = true
      state.pause?.mustTell = true
    }
    if state.rare != nil { state.publish(kind, context: cause.context) }
    if tells { queueDelivery(&state, cause, before: before) }
  }

  private mutating func queueDelivery(
    _ state: inout ModelHolder.State, _ cause: Cause, before: (any SimpleModel)?
  ) {
    if let pause = state.rare?.pause {
      pause.note(cause.context, cause.date)
      // After the end of a pause, the data shown meanwhile may have been read and need a callback.
      if !pause.isPaused { pause.mustTell = true }
      tells = false
    } else if state.undelivered >= cause.limit {
      let pause = ProviderPause(showing: before, .limit)
      pause.note(cause.context, cause.date)
      state.makeRare().pause = pause
      tells = false
      reachedLimit = true
    } else {
      state.lastUpdated = cause.date
      state.undelivered += 1
      epoch = state.epoch
    }
  }

  /// Calls the delegate and notifies tracked readers.
  ///
  /// - Returns: The provider's batch, if it has one.
  mutating func deliver(_ cause: Cause) -> BatchCore? {
    if changesData, holder.state.withLock({ $0.tracking != nil }) { holder.dataHasChanged() }
    if reachedLimit { holder.isPausedHasChanged() }
    guard tells else { return nil }
    // The receivers of the callback. `resumes` is true if it was the last one of a provider paused
    // by the limit.
    var provider: (any ToldProvider)?
    var delegate: (any DataProviderDelegate)?
    var batch: BatchCore?
    var modelUpdated: ModelHolder.ModelUpdated?
    var resumes = false
    holder.state.withLock { state in
      state.undelivered -= 1
      if let rare = state.rare {
        modelUpdated = rare.modelUpdated
        if state.undelivered == 0, rare.pause?.reasons.contains(.limit) == true { resumes = true }
        batch = rare.batch
      }
      guard isToldNow(&state, cause) else { return }
      provider = state.provider
      delegate = state.delegate
    }
    if let provider {
      if let modelUpdated { modelUpdated(holder.data, cause.context) }
      if let delegate { provider.tell(delegate, context: cause.context) }
      batch?.note(provider, cause.context, cause.date)
    }
    if resumes { holder.resume(.limit) }
    return provider == nil ? nil : batch
  }

  /// True if the shown data may have changed, apart from the provider's own changes.
  private var changesData: Bool {
    if case .answered = kind { return true }
    return tells
  }

  private func isToldNow(_ state: inout ModelHolder.State, _ cause: Cause) -> Bool {
    guard epoch == state.epoch else { return false }
    if let pause = state.rare?.pause, !pause.reasons.isDisjoint(with: [.owner, .batch]) {
      pause.noteUndelivered(cause.context)
      return false
    }
    return true
  }
}
