import PandoSystem

/// What iterations that run at the same time share; it is not kept alive.
final class SharedLive<Live: AnyObject & Sendable>: Sendable {
  private struct State: Sendable {
    weak var live: Live?
  }

  private let state = Locked(State())

  /// The one that iterations share, made now if there is none.
  func live(orMake make: () throws -> Live) rethrows -> (live: Live, isNew: Bool) {
    try state.withLock { state in
      if let live = state.live { return (live, false) }
      let live = try make()
      state.live = live
      return (live, true)
    }
  }

  /// Lets the next iteration have another one.
  ///
  /// - Parameter live: The one that can't be used any more.
  func forget(_ live: Live) {
    let present = state.withLock { state in
      defer { if state.live === live { state.live = nil } }
      // A strong reference leaves the lock, and ends outside.
      return state.live
    }
    withExtendedLifetime(present) {}
  }
}
