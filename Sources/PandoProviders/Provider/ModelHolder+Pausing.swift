import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

extension ModelHolder {
  var isPaused: Bool { state.withLock { $0.pause?.isPaused ?? false } }

  /// Whether it stands still, to somebody who may track what is read.
  var trackedIsPaused: Bool {
    state.withLock { state in
      state.makeTracking().readIsPaused()
      return state.pause?.isPaused ?? false
    }
  }

  /// Makes the provider stand still.
  func pause(_ reason: PauseReasons) {
    state.withLock { state in
      if let pause = state.pause {
        if !pause.isPaused {
          // What it showed meanwhile may have been seen, and is not what its delegate was told.
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

  /// Ends one reason to stand still: with the last one the newest data are shown at once, and told
  /// with one callback.
  func resume(_ reason: PauseReasons) {
    guard beginResume(reason) else { return }
    manager.consistencyManager.enqueue { [self] scope in
      guard let resumed = finishResume() else { return }
      scope.publish([resumed.change], resumed.update)
    }
  }

  /// Ends one reason to stand still.
  ///
  /// - Returns: Whether the provider shows the newest data now, and ``finishResume()`` has to be called.
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
  /// - Returns: What is to be told; `nil` if nothing is.
  func finishResume() -> ResumedMember? {
    while true {
      let end = state.withLock { state -> PauseEnd? in
        guard let pause = state.pause, !pause.isPaused else { return nil }
        return PauseEnd(
          pause: pause, current: state.current, baseline: pause.baseline, epoch: state.epoch)
      }
      guard let end else { return nil }
      // Compared outside the lock: it runs the model's own code.
      let differs = !Self.same(end.baseline, end.current)
      let update = state.withLock { state -> LiveUpdate?? in
        let pause = end.pause
        guard state.pause === pause, !pause.isPaused, state.epoch == end.epoch else { return nil }
        state.rare?.pause = nil
        guard differs || pause.mustTell else { return .some(nil) }
        var update = LiveUpdate()
        update.context = pause.context
        if let date = pause.date { update.date = date }
        return update
      }
      guard let update else { continue }
      return update.map { ResumedMember(change: StagedModels(self, .resumed, $0), update: $0) }
    }
  }
}
