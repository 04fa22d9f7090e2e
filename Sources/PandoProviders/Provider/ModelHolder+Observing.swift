import PandoModels
import PandoSystem

extension ModelHolder: ObservedHolder {
  /// Returns the state from which observers pull; the first call makes it.
  func observed() -> ObservedState<(any SimpleModel)?> {
    let (observed, isNew) = state.withLock { state in
      let rare = state.makeRare()
      if let observed = rare.observed { return (observed, false) }
      let observed = ObservedState(state.committed)
      rare.observed = observed
      return (observed, true)
    }
    if isNew {
      manager.observed.insert(self)
      // Inserted before this check, so that either `close()` or this call ends the observation.
      if manager.isClosed.withLock({ $0 }) { observed.finish() }
    }
    return observed
  }

  package func shows(_ key: ByteString, as type: (any SimpleModel.Type)?) -> Bool {
    guard let type, let root = state.withLock({ $0.committed }) else { return false }
    return root.containsNode(key, as: type)
  }

  package func endObservations(_ error: (any Error)?) {
    guard let observed = state.withLock({ $0.rare?.observed }) else { return }
    if let error { observed.fail(error) } else { observed.finish() }
  }

  /// Ends all observations when the provider is released.
  func detachObservers() {
    guard let observed = state.withLock({ $0.rare?.observed }) else { return }
    observed.finish()
    manager.observed.remove(self)
  }

  /// Reports a change of `data` to tracked readers; calls closures of users.
  func dataHasChanged() { state.withLock { $0.tracking }?.changedData() }

  /// Reports a change of `isPaused` to tracked readers; calls closures of users.
  func isPausedHasChanged() { state.withLock { $0.tracking }?.changedIsPaused() }
}

extension ModelHolder.State {
  /// Publishes the committed model to observers.
  ///
  /// - Parameters:
  ///   - kind: The kind of change. A paused provider publishes its own changes only.
  ///   - context: The context of the change.
  func publish(_ kind: StagedModel.Kind, context: (any Sendable)?) {
    guard let observed = rare?.observed else { return }
    // A pause because of undelivered callbacks does not delay sequences.
    let isPaused = !(pause?.reasons ?? []).isDisjoint(with: [.owner, .batch])
    switch kind {
    case .own(let operation, _):
      observed.publish(isPaused ? operation.root : committed, context: context)
    case .answered(let action, _, let tells):
      if !isPaused || (action == applied && !tells) {
        observed.publish(committed, context: context)
      }
    case .elsewhere, .arrived, .deleted, .lost:
      if !isPaused { observed.publish(committed, context: context) }
    case .resumed: observed.publish(committed, context: context)
    case .replay: break
    }
  }

  /// Returns the object that reports changes to `withObservationTracking`; the first read makes it.
  mutating func makeTracking() -> ProviderTracking {
    if let tracking { return tracking }
    let new = ProviderTracking()
    tracking = new
    return new
  }
}
