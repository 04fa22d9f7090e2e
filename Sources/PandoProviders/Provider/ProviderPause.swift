import FoundationEssentials
import PandoModels

/// What a provider that stands still remembers; under its holder's lock.
final class ProviderPause {
  /// Why it stands still.
  var reasons: PauseReasons
  /// What is shown meanwhile.
  var frozen: (any SimpleModel)?
  /// What its delegate knows.
  var baseline: (any SimpleModel)?
  /// Whether a callback was on its way when it was paused.
  var mustTell = false
  /// Whether something has changed since it was paused, with the context and the time of the last
  /// change.
  var hasChanged = false
  var context: (any Sendable)?
  var date: Date?

  /// Begins to stand still.
  init(showing model: (any SimpleModel)?, _ reason: PauseReasons) {
    reasons = reason
    frozen = model
    baseline = model
  }

  /// Standing still; else it is on its way back.
  var isPaused: Bool { !reasons.isEmpty }

  /// Begins anew, when the provider itself has set something.
  ///
  /// - Returns: What was remembered, to be let go outside the lock.
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

  /// Notes a change that is not told.
  func note(_ context: (any Sendable)?, _ date: Date) {
    hasChanged = true
    self.context = context
    self.date = date
  }

  /// Notes a callback that was on its way when the provider was paused.
  func noteUndelivered(_ context: (any Sendable)?) {
    mustTell = true
    if !hasChanged { self.context = context }
  }
}
