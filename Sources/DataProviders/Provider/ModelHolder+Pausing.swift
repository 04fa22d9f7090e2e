import Consistency
import Foundation
import Locking
import ModelCore

extension ModelHolder {
  var isPaused: Bool { state.withLock { $0.pause?.byOwner ?? false } }

  /// Makes the provider stand still.
  func pause() {
    state.withLock { state in
      if let pause = state.pause {
        if !pause.isPaused { pause.frozen = state.current }
        pause.byOwner = true
      } else {
        state.makeRare().pause = ProviderPause(showing: state.current, byLimit: false)
      }
    }
  }

  /// Ends a pause: the newest data are shown at once, and told with one callback.
  func resume(fromLimit: Bool = false) {
    guard beginResume(fromLimit: fromLimit) else { return }
    manager.consistencyManager.enqueue { [self] scope in
      guard let (change, update) = finishResume() else { return }
      scope.publish([change], update)
    }
  }

  /// Shows the newest data.
  ///
  /// - Returns: Whether a pause has ended.
  func beginResume(fromLimit: Bool = false) -> Bool {
    state.withLock { state in
      guard let pause = state.pause, pause.isPaused else { return false }
      if fromLimit { pause.byLimit = false } else { pause.byOwner = false }
      guard !pause.isPaused else { return false }
      if pause.hasChanged { state.lastUpdated = pause.date }
      return true
    }
  }

  /// What is to be told at the end of a pause; `nil` if nothing is. Pipeline.
  func finishResume() -> (change: any StagedChange, update: LiveUpdate)? {
    while true {
      let seen = state.withLock {
        state -> (ProviderPause, (any SimpleModel)?, (any SimpleModel)?, UInt64)? in
        guard let pause = state.pause, !pause.isPaused else { return nil }
        return (pause, pause.baseline, state.current, state.epoch)
      }
      guard let (pause, baseline, current, epoch) = seen else { return nil }
      // Compared outside the lock: it runs the model's own code.
      let differs = !Self.same(baseline, current)
      let end = state.withLock { state -> LiveUpdate?? in
        guard state.pause === pause, !pause.isPaused, state.epoch == epoch else { return nil }
        state.rare?.pause = nil
        guard differs || pause.mustTell else { return .some(nil) }
        var update = LiveUpdate()
        update.context = pause.context
        if let date = pause.date { update.date = date }
        return update
      }
      guard let end else { continue }
      return end.map { (StagedModel(self, .resumed, $0), $0) }
    }
  }
}
