import Consistency
import Foundation
import Locking
import ModelCore

/// What an update does to one provider.
final class StagedModel: StagedChange, @unchecked Sendable {
  // Sendable because the pipeline writes it until `publish` returns, and the delivery owns it then.
  enum Kind {
    /// Something elsewhere has changed the tree.
    case elsewhere
    /// An own set has come back; whether it is other than it was set.
    case own(SetOperation, isOther: Bool)
    /// What was awaited has come, or what a cache is being asked for; the fetch that this answers.
    case arrived(UInt64)
    /// The root is deleted; its identifier.
    case deleted(String?)
    /// A fetch has its answer: its action, and what is awaited after a miss.
    case answered(UInt64, awaited: String?, tells: Bool)
    /// An own set has failed.
    case replay
    /// A pause has ended.
    case resumed
  }

  private let holder: ModelHolder
  private let kind: Kind
  private let context: (any Sendable)?
  private let date: Date
  /// What is committed from now on; afterwards what was, to be let go outside all locks.
  private var model: (any SimpleModel)?
  private var tells = false
  private var toldBatch: BatchCore?
  private var epoch: UInt64 = 0
  private var reachedLimit = false

  init(
    _ holder: ModelHolder, _ kind: Kind, _ update: LiveUpdate, model: (any SimpleModel)? = nil
  ) {
    self.holder = holder
    self.kind = kind
    context = update.context
    date = update.date
    self.model = model
  }

  func publish() {
    holder.state.withLock { publish(&$0) }
    if reachedLimit { holder.manager.reportLimit(holder.type) }
  }

  private func publish(_ state: inout ModelHolder.State) {
    let limit = Int32(clamping: holder.manager.limits.undeliveredCallbacksMaximum)
    let before = state.undelivered >= limit && state.pause == nil ? state.shown : nil
    switch kind {
    case .elsewhere:
      swap(&state.base, &model)
      tells = isVisible(&state)
    case .own(let operation, let isOther):
      swap(&state.base, &model)
      state.waitingFor = nil
      _ = state.pending.remove(operation)
      tells = isOther && isVisible(&state)
    case .arrived(let action):
      swap(&state.base, &model)
      state.waitingFor = nil
      tells = isVisible(&state)
      state.applied = max(state.applied, action)
    case .deleted(let identifier):
      swap(&state.base, &model)
      state.waitingFor = identifier
      tells = isVisible(&state)
    case .answered(let action, let awaited, let tells):
      swap(&state.base, &model)
      state.waitingFor = awaited
      if action > state.applied {
        state.pending = PendingSets()
        state.applied = action
        state.epoch += 1
        state.lastUpdated = date
        state.rare?.announced = nil
        if !tells { _ = state.pause?.restart(showing: state.current) }
        self.tells = tells
      }
    case .replay, .resumed:
      tells = true
      state.pause?.mustTell = true
    }
    state.publish(kind, context: context)
    if tells { queueDelivery(&state, limit: limit, before: before) }
  }

  /// Whether the committed model is what the provider shows, but for a pause.
  private func isVisible(_ state: inout ModelHolder.State) -> Bool {
    state.clears == 0 && state.pending.isEmpty
  }

  private func queueDelivery(
    _ state: inout ModelHolder.State, limit: Int32, before: (any SimpleModel)?
  ) {
    if let pause = state.pause {
      pause.note(context, date)
      tells = false
    } else if state.undelivered >= limit {
      let pause = ProviderPause(showing: before, .limit)
      pause.note(context, date)
      state.makeRare().pause = pause
      tells = false
      reachedLimit = true
    } else {
      state.lastUpdated = date
      state.undelivered += 1
      epoch = state.epoch
    }
  }

  /// Who is told.
  private struct Target {
    let provider: any ToldProvider
    let delegate: (any DataProviderDelegate)?
    let batch: BatchCore?
  }

  func deliver() {
    if changesData { holder.dataHasChanged() }
    if reachedLimit { holder.isPausedHasChanged() }
    guard tells else { return }
    let (target, resumes) = holder.state.withLock { state in
      state.undelivered -= 1
      let resumes = state.undelivered == 0 && state.pause?.reasons.contains(.limit) == true
      return (findTarget(&state), resumes)
    }
    if let target {
      if let delegate = target.delegate { target.provider.tell(delegate, context: context) }
      toldBatch = target.batch
      toldBatch?.note(target.provider, context, date)
    }
    if resumes { holder.resume(.limit) }
  }

  /// Whether what is shown may be other than before, besides what the provider did itself.
  private var changesData: Bool {
    if case .answered = kind { return true }
    return tells
  }

  private func findTarget(_ state: inout ModelHolder.State) -> Target? {
    guard epoch == state.epoch else { return nil }
    if let pause = state.pause, !pause.reasons.isDisjoint(with: [.owner, .batch]) {
      pause.noteUndelivered(context)
      return nil
    }
    guard let provider = state.provider else { return nil }
    return Target(provider: provider, delegate: state.delegate, batch: state.rare?.batch)
  }

  var batch: (any LiveBatch)? { toldBatch }
}
