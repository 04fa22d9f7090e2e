import PandoProviders
import PandoSystem

/// The value of a followed query or graph, from the commit at which it was loaded.
///
/// ```
/// loading ─► follow(value, at: k) ─► following ─► stage ─► commit
///       └──── a commit after k has touched it: loaded again
/// ```
final class FollowedState<Value: Sendable>: Sendable {
  private enum Phase {
    /// It is being loaded; `missed` is the last commit that may have touched it since.
    case loading(missed: UInt64)
    case following
    case failed
  }

  private struct State {
    var phase = Phase.loading(missed: 0)
    var staged: Value?
    /// The commit number of `staged`.
    var stagedAt: UInt64 = 0
  }

  /// The state that observers read; its value is `nil` until it is loaded.
  let observed = ObservedState<Value?>(nil)
  private let state = Locked(State())

  /// Whether it has ended with an error.
  var hasFailed: Bool {
    state.withLock { state in
      if case .failed = state.phase { return true }
      return false
    }
  }

  /// Ends it with an error, which observers receive after the last value.
  func fail(_ error: any Error) {
    state.withLock { $0.phase = .failed }
    observed.fail(error)
  }

  /// Publishes a value that was loaded at a commit, unless a later commit has touched it.
  ///
  /// - Parameters:
  ///   - value: The loaded value.
  ///   - number: The commit number of the load.
  ///   - beforeShowing: Called before the value is published.
  /// - Returns: Whether it is published; otherwise it has to be loaded again.
  func follow(_ value: Value, at number: UInt64, beforeShowing: () -> Void) -> Bool {
    let isShown = state.withLock { state in
      guard case .loading(let missed) = state.phase, missed <= number else { return false }
      state = State(phase: .following, staged: value, stagedAt: number)
      return true
    }
    guard isShown else { return false }
    beforeShowing()
    observed.publish(value)
    return true
  }

  /// The value after the staged commits; `nil` while it is being loaded, and after a failure.
  var current: Value? {
    state.withLock { state in
      if case .following = state.phase { return state.staged }
      return nil
    }
  }

  /// Returns the value to which a commit is applied.
  ///
  /// - Parameters:
  ///   - number: The commit number.
  ///   - isKnown: Whether the nodes of the commit are known.
  /// - Returns: `nil` if there is no value yet, or if it has the commit already.
  func staged(before number: UInt64, isKnown: Bool) -> Value? {
    state.withLock { state in
      if case .loading(let missed) = state.phase {
        state.phase = .loading(missed: max(missed, number))
      }
      return !isKnown || number > state.stagedAt ? state.staged : nil
    }
  }

  /// Stages the value after the staged commits; ``commit(_:context:)`` publishes it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - number: The commit number of its last change.
  func stage(_ value: Value, at number: UInt64) {
    state.withLock { state in
      if case .failed = state.phase { return }
      state.phase = .following
      state.staged = value
      state.stagedAt = number
    }
  }

  /// Publishes a staged value.
  ///
  /// - Parameters:
  ///   - value: The staged value.
  ///   - context: The context of the write.
  func commit(_ value: Value, context: (any Sendable)?) {
    if !hasFailed { observed.publish(value, context: context) }
  }
}
