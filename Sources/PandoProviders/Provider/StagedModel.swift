import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// What an update does to one provider.
struct StagedModel {
  enum Kind {
    /// Something elsewhere has changed the tree.
    case elsewhere
    /// An own set has come back; whether it is other than it was set.
    indirect case own(SetOperation, isOther: Bool)
    /// The provider's own set comes back with commits behind it that have deleted its root.
    indirect case lost(SetOperation)
    /// What was awaited has come, or what a cache is being asked for; the fetch that this answers.
    indirect case arrived(UInt64)
    /// The root is deleted; its identifier.
    indirect case deleted(String?)
    /// A fetch has its answer: its action, and what is awaited after a miss.
    indirect case answered(UInt64, awaited: String?, tells: Bool)
    /// An own set has failed.
    case replay
    /// A pause has ended.
    case resumed
  }

  /// The change that a provider is in.
  struct Cause {
    let context: (any Sendable)?
    let date: Date
    let limit: Int32
  }

  private let holder: ModelHolder
  private let kind: Kind
  /// What is committed from now on; afterwards what was, to be let go outside all locks.
  private var model: (any SimpleModel)?
  private var epoch: UInt64 = 0
  private var tells = false
  private var reachedLimit = false

  /// The last `clear` that came before an own set.
  private let clear: UInt32

  init(
    _ holder: ModelHolder, _ kind: Kind, model: (any SimpleModel)? = nil, after clear: UInt32 = 0
  ) {
    self.holder = holder
    self.kind = kind
    self.model = model
    self.clear = clear
  }

  /// Shows the new state.
  ///
  /// - Returns: Whether somebody is to be told.
  mutating func publish(_ cause: Cause) -> Bool {
    let isTracked = holder.state.withLock { state in
      publish(&state, cause)
      // Whoever begins to track it from now on reads what is new.
      return state.tracking != nil
    }
    if reachedLimit { holder.manager.reportLimit(holder.type) }
    return tells || reachedLimit || (isTracked && changesData)
  }

  private mutating func publish(_ state: inout ModelHolder.State, _ cause: Cause) {
    // Not by the state's property, which would copy the state.
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
      // On its way back it shows what changes: somebody may have seen what is gone now.
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

  /// Tells the delegate and those who track reads.
  ///
  /// - Returns: The provider's batch, if its members are told together.
  mutating func deliver(_ cause: Cause) -> BatchCore? {
    if changesData, holder.state.withLock({ $0.tracking != nil }) { holder.dataHasChanged() }
    if reachedLimit { holder.isPausedHasChanged() }
    guard tells else { return nil }
    // Whom to tell, and whether that was the last callback of a provider that waits for it.
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

  /// Whether what is shown may be other than before, besides what the provider did itself.
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
