import PandoModels
import PandoSystem

extension ModelHolder: ObservedHolder {
  /// What observers pull from, made at the first call.
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
      // Known before this is asked: one of the two sees the other.
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

  /// Ends all observations when the provider has gone.
  func detachObservers() {
    guard let observed = state.withLock({ $0.rare?.observed }) else { return }
    observed.finish()
    manager.observed.remove(self)
  }

  /// Tells those who track reads that `data` has changed; calls closures of users.
  func dataHasChanged() { state.withLock { $0.tracking }?.changedData() }

  /// Tells those who track reads that `isPaused` has changed; calls closures of users.
  func isPausedHasChanged() { state.withLock { $0.tracking }?.changedIsPaused() }
}

extension ModelHolder.State {
  /// Shows observers what is committed now.
  ///
  /// - Parameters:
  ///   - kind: What has happened; while the provider is paused, only what it does itself is shown.
  ///   - context: What the change was made with.
  func publish(_ kind: StagedModel.Kind, context: (any Sendable)?) {
    guard let observed = rare?.observed else { return }
    // Callbacks that nobody takes hold up no sequence.
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

  /// What tells `withObservationTracking` of changes, made at the first read.
  mutating func makeTracking() -> ProviderTracking {
    if let tracking { return tracking }
    let new = ProviderTracking()
    tracking = new
    return new
  }
}
