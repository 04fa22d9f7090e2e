import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

extension ModelHolder {
  var isPaused: Bool { state.withLock { $0.pause?.isPaused ?? false } }

  /// True if the provider is paused; records a tracked read.
  var trackedIsPaused: Bool {
    state.withLock { state in
      state.makeTracking().readIsPaused()
      return state.pause?.isPaused ?? false
    }
  }

  func pause(_ reason: PauseReasons) {
    state.withLock { state in
      if let pause = state.pause {
        if !pause.isPaused {
          // The data shown since the end of the last pause may have been read, but were not
          // delivered.
          if pause.hasChanged { pause.mustTell = true }
          pause.frozen = state.current
        }
        pause.reasons.insert(reason)
      } else {
        state.makeRare().pause = ProviderPause(showing: state.current, reason)
      }
    }
    isPausedHasChanged()
  }

  /// Removes one reason to pause.
  ///
  /// After the last one, Pando shows the newest data and makes one callback.
  func resume(_ reason: PauseReasons) {
    guard beginResume(reason) else { return }
    manager.consistencyManager.enqueue { [self] scope in
      guard let resumed = finishResume() else { return }
      scope.publish([resumed])
    }
  }

  /// Removes one reason to pause.
  ///
  /// - Returns: True if the provider now shows the newest data, so that ``finishResume()`` must be
  ///   called.
  func beginResume(_ reason: PauseReasons) -> Bool {
    let hasEnded = state.withLock { state in
      guard let pause = state.pause, pause.reasons.remove(reason) != nil, !pause.isPaused
      else { return false }
      if let date = pause.date { state.lastUpdated = date }
      return true
    }
    if hasEnded {
      isPausedHasChanged()
      dataHasChanged()
    }
    return hasEnded
  }

  private struct PauseEnd {
    let pause: ProviderPause
    let current: (any SimpleModel)?
    let baseline: (any SimpleModel)?
    let epoch: UInt64
  }

  /// Ends a pause; on the pipeline.
  ///
  /// - Returns: The staged callback; `nil` if none is due.
  func finishResume() -> (any StagedChange)? {
    while true {
      let end = state.withLock { state -> PauseEnd? in
        guard let pause = state.pause, !pause.isPaused else { return nil }
        return PauseEnd(
          pause: pause, current: state.current, baseline: pause.baseline, epoch: state.epoch)
      }
      guard let end else { return nil }
      // Compared outside the lock, because the comparison runs the model's own code.
      let differs = !Self.same(end.baseline, end.current)
      let change = state.withLock { state -> StagedModels?? in
        let pause = end.pause
        guard state.pause === pause, !pause.isPaused, state.epoch == end.epoch else { return nil }
        state.rare?.pause = nil
        guard differs || pause.mustTell else { return .some(nil) }
        return StagedModels(self, .resumed, pause.context, pause.date ?? Date())
      }
      if let change { return change }
    }
  }
}
