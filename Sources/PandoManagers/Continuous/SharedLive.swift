import PandoSystem

/// What iterations that run at the same time share; it is not kept alive.
final class SharedLive<Live: AnyObject & Sendable>: Sendable {
  private let state = Locked<WeakReference<Live>?>(nil)

  /// The one that iterations share, made now if there is none.
  func live(orMake make: () throws -> Live) rethrows -> (live: Live, isNew: Bool) {
    try state.withLock { state in
      if let live = state?.object { return (live, false) }
      let live = try make()
      state = WeakReference(live)
      return (live, true)
    }
  }

  /// Lets the next iteration have another one.
  ///
  /// - Parameter live: The one that can't be used any more.
  func forget(_ live: Live) {
    let present = state.withLock { state in
      // A strong reference leaves the lock, and ends outside.
      let present = state?.object
      if present === live { state = nil }
      return present
    }
    withExtendedLifetime(present) {}
  }
}
