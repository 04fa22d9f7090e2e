import Dispatch
import PandoSystem

/// Resumes observers on a queue of its own, so that they do not delay the pipeline.
final class ObserverWaker: Sendable {
  static let shared = ObserverWaker()

  private struct State {
    var waiters: [Waiters<Void>.Continuation] = []
    var isDraining = false
  }

  private let queue = DispatchQueue(label: "pando.observing")
  private let state = Locked(State())

  /// Resumes observers asynchronously.
  func wake(_ waiters: some Collection<Waiters<Void>.Continuation>) {
    let starts = state.withLock { state in
      state.waiters += waiters
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  private func drain() {
    while true {
      let waiters = state.withLock { state in
        let waiters = state.waiters
        state.waiters = []
        if waiters.isEmpty { state.isDraining = false }
        return waiters
      }
      if waiters.isEmpty { return }
      for waiter in waiters { waiter.resume() }
    }
  }
}
