import PandoSystem

/// The pause of a batch, which reaches one member after another.
///
/// Another call, also one from a callback of a member, may set another value meanwhile. The first call then carries it
/// out too, so that the members end as the batch.
package final class BatchPause: Sendable {
  private struct State {
    var isPaused = false
    /// Whether a call is setting the members.
    var isChanging = false
  }

  private let state = Locked(State())

  package init() {}

  package var isPaused: Bool { state.withLock { $0.isPaused } }

  /// Sets the batch, and its members unless another call does that.
  ///
  /// - Parameters:
  ///   - isPaused: The value.
  ///   - change: Sets all members to a value.
  package func set(_ isPaused: Bool, _ change: (Bool) -> Void) {
    let begins = state.withLock { state in
      let begins = state.isPaused != isPaused && !state.isChanging
      state.isPaused = isPaused
      if begins { state.isChanging = true }
      return begins
    }
    guard begins else { return }
    var (value, isDone) = (isPaused, false)
    while !isDone {
      change(value)
      (value, isDone) = state.withLock { state in
        if state.isPaused == value { state.isChanging = false }
        return (state.isPaused, state.isPaused == value)
      }
    }
  }
}
