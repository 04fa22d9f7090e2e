import PandoModels
import PandoSystem

extension ListenerHolder {
  /// The origin of a pause.
  enum Pauser {
    case call, batch
  }

  var isPaused: Bool { state.withLock { $0.isPaused } }

  func pause(by pauser: Pauser) {
    state.withLock { state in
      switch pauser {
      case .call: state.isPausedAlone = true
      case .batch: state.isPausedInBatch = true
      }
      state.keepsBack = true
      state.folds = true
      state.isBacklogged = false
    }
  }

  /// Ends a pause.
  ///
  /// - Returns: True if the changes of the pause must be delivered.
  func resume(by pauser: Pauser) -> Bool {
    state.withLock { state in
      let wasPaused = state.isPaused
      switch pauser {
      case .call: state.isPausedAlone = false
      case .batch: state.isPausedInBatch = false
      }
      return wasPaused && !state.isPaused
    }
  }

  /// Stages the held-back changes.
  ///
  /// Called on the pipeline.
  ///
  /// - Returns: `nil` if the listener is paused again or removed, or has no such changes.
  func catchUp(_ scope: PipelineScope) -> CatchUp? {
    let (change, endsWaiting) = state.withLock { state -> (CatchUp?, String?) in
      if state.isRemoved || state.isPaused || !state.keepsBack { return (nil, nil) }
      state.keepsBack = false
      state.isBacklogged = false
      guard state.isAhead else {
        state.folds = false
        return (nil, nil)
      }
      let changes = exchange(&state.keptBack, with: nil)
      state.queuedCount += 1
      let change = CatchUp(self, state.staged, state.root, state.newest, changes)
      return (change, state.newest == nil ? state.root : nil)
    }
    if let endsWaiting { scope.unregisterAbsent(self, row: 0, identifier: endsWaiting) }
    return change
  }
}
