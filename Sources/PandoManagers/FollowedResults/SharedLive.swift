import PandoSystem

/// The live object that iterations at the same time share; held weakly.
final class SharedLive<Live: AnyObject & Sendable>: Sendable {
  private let state = Locked<WeakReference<Live>?>(nil)

  /// Returns the shared object, or makes it.
  func live(orMake make: () throws -> Live) rethrows -> (live: Live, isNew: Bool) {
    try state.withLock { state in
      if let live = state?.object { return (live, false) }
      let live = try make()
      state = WeakReference(live)
      return (live, true)
    }
  }

  /// Makes the next iteration use another object.
  ///
  /// - Parameter live: The object that can't be used any more.
  func forget(_ live: Live) {
    let present = state.withLock { state in
      // The strong reference is released outside the lock.
      let present = state?.object
      if present === live { state = nil }
      return present
    }
    withExtendedLifetime(present) {}
  }
}
