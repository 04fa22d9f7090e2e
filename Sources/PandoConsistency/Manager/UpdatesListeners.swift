import PandoSystem

/// The listeners of all updates, in the order of registration.
final class UpdatesListeners: Sendable {
  final class Holder: Sendable {
    weak let listener: (any ConsistencyManagerUpdatesListener)?
    private let removed = Locked(false)

    init(_ listener: any ConsistencyManagerUpdatesListener) { self.listener = listener }

    var isRemoved: Bool { removed.withLock { $0 } }

    func remove() { removed.withLock { $0 = true } }
  }

  private struct State {
    /// All listeners, including those whose registration is queued.
    var known: [Holder] = []
    /// The listeners that receive an update.
    var active: [Holder] = []
  }

  private let state = Locked(State())

  /// Makes a holder for a listener; returns `nil` if it has one.
  func makeHolder(_ listener: any ConsistencyManagerUpdatesListener) -> Holder? {
    state.withLock { state in
      state.known.removeAll { $0.listener == nil }
      state.active.removeAll { $0.listener == nil }
      if state.known.contains(where: { $0.listener === listener }) { return nil }
      let holder = Holder(listener)
      state.known.append(holder)
      return holder
    }
  }

  func activate(_ holder: Holder) {
    state.withLock { if !holder.isRemoved { $0.active.append(holder) } }
  }

  func remove(where matches: (Holder) -> Bool) {
    state.withLock { state in
      for holder in state.known where matches(holder) { holder.remove() }
      state.known.removeAll { $0.isRemoved }
      state.active.removeAll { $0.isRemoved }
    }
  }

  var active: [Holder] { state.withLock { $0.active } }
}
