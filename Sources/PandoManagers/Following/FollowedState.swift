import PandoProviders
import PandoSystem

/// What somebody follows: its present value, from the commit that it was read at.
///
/// ```
/// loading ─► follow(value, at: k) ─► following ─► stage ─► commit
///       └──── a commit after k has touched it: read again
/// ```
final class FollowedState<Value: Sendable>: Sendable {
  private enum Phase {
    /// It is being read; the last commit so far that may have touched it.
    case loading(missed: UInt64)
    case following
    case failed
  }

  private struct State {
    var phase = Phase.loading(missed: 0)
    var staged: Value?
    /// The last change that `staged` shows.
    var stagedAt: UInt64 = 0
  }

  /// What observers pull from; `nil` until it has been read.
  let observed = ObservedState<Value?>(nil)
  private let state = Locked(State())

  /// Whether it can be followed no longer.
  var hasFailed: Bool {
    state.withLock { state in
      if case .failed = state.phase { return true }
      return false
    }
  }

  /// Ends it by an error: all who follow it are told after the last value.
  func fail(_ error: any Error) {
    state.withLock { $0.phase = .failed }
    observed.fail(error)
  }

  /// Shows what was read at a commit, if nothing has touched it since.
  ///
  /// - Parameters:
  ///   - value: What was read.
  ///   - number: The commit that it was read at.
  ///   - beforeShowing: Called when it follows and nobody has been told yet.
  /// - Returns: Whether it is shown; else it has to be read again.
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

  /// What a commit has to be held against.
  ///
  /// - Parameters:
  ///   - number: The number of the commit.
  ///   - isKnown: Whether it is known what the commit has touched.
  /// - Returns: `nil` if there is nothing yet, or if it shows that commit already.
  func staged(before number: UInt64, isKnown: Bool) -> Value? {
    state.withLock { state in
      if case .loading(let missed) = state.phase {
        state.phase = .loading(missed: max(missed, number))
      }
      return !isKnown || number > state.stagedAt ? state.staged : nil
    }
  }

  /// Takes what the commits at work leave; it is shown with ``commit(_:context:)``.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - number: The last change that it shows.
  func stage(_ value: Value, at number: UInt64) {
    state.withLock { state in
      if case .failed = state.phase { return }
      state.phase = .following
      state.staged = value
      state.stagedAt = number
    }
  }

  /// Shows what a commit has left.
  ///
  /// - Parameters:
  ///   - value: What was staged for it.
  ///   - context: What the writer passed along.
  func commit(_ value: Value, context: (any Sendable)?) {
    if !hasFailed { observed.publish(value, context: context) }
  }
}
