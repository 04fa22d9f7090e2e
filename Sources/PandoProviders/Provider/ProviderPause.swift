import FoundationEssentials
import PandoModels

/// The state of a paused provider; guarded by its holder's lock.
final class ProviderPause {
  var reasons: PauseReasons
  /// The model that is shown during the pause.
  var frozen: (any SimpleModel)?
  /// The model that the delegate received last.
  var baseline: (any SimpleModel)?
  /// True if a callback is due at the end of the pause in any case.
  var mustTell = false
  /// True if a change was made during the pause.
  ///
  /// `context` and `date` belong to the last such change.
  var hasChanged = false
  var context: (any Sendable)?
  var date: Date?

  /// Begins a pause.
  init(showing model: (any SimpleModel)?, _ reason: PauseReasons) {
    reasons = reason
    frozen = model
    baseline = model
  }

  /// True during the pause; false if it has ended and its callback is not queued yet.
  var isPaused: Bool { !reasons.isEmpty }

  /// Begins a new pause after the provider's own change.
  ///
  /// - Returns: The old model, which must be released outside the lock.
  func restart(showing model: (any SimpleModel)?) -> (any SimpleModel)? {
    let old = frozen
    frozen = model
    baseline = model
    mustTell = false
    hasChanged = false
    context = nil
    date = nil
    return old
  }

  /// Records a change that is not delivered.
  func note(_ context: (any Sendable)?, _ date: Date) {
    hasChanged = true
    self.context = context
    self.date = date
  }

  /// Records a callback that was queued when the pause began.
  func noteUndelivered(_ context: (any Sendable)?) {
    mustTell = true
    if !hasChanged { self.context = context }
  }
}
