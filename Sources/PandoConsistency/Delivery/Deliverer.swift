import Dispatch
import PandoSystem

/// Calls people back, one after another, in the order in which the calls were queued.
package final class Deliverer: Sendable {
  private struct State {
    var calls: [(@Sendable () -> Void)?] = []
    /// Whether somebody drains, or is about to.
    var isDraining = false
  }

  /// For how many calls room is kept.
  private static let keptCountMaximum = 4_096
  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  private let target: DeliveryTarget
  private let state = Locked(State())

  package init(_ target: DeliveryTarget) {
    self.target = target
    if case .queue(let queue) = target.kind {
      queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }
  }

  /// Whether the caller runs on the queue that calls come on.
  package var isCurrent: Bool {
    guard case .queue(let queue) = target.kind else { return false }
    return DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue)
  }

  /// Queues a call.
  package func enqueue(_ call: @escaping @Sendable () -> Void) {
    if add(call) { start() }
  }

  /// Queues a call.
  ///
  /// - Returns: Whether the caller has to have it made, by ``start()`` or ``drainHere()``.
  func add(_ call: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      state.calls.append(call)
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  /// Whether ``drainHere()`` waits for nobody: the queue is the manager's own.
  var canDrainHere: Bool {
    target.isOwn
  }

  /// Makes the calls that are queued, on the queue but on the caller's thread.
  func drainHere() {
    guard case .queue(let queue) = target.kind else { return start() }
    queue.sync { drain() }
  }

  /// Has the calls that are queued made elsewhere.
  func start() {
    switch target.kind {
    case .queue(let queue): queue.async { self.drain() }
    case .executor(let executor): Task(executorPreference: executor) { self.drain() }
    }
  }

  private func drain() {
    var calls: [(@Sendable () -> Void)?] = []
    while true {
      calls.removeAll(keepingCapacity: calls.count <= Self.keptCountMaximum)
      state.withLock { state in
        if state.calls.isEmpty { state.isDraining = false }
        swap(&state.calls, &calls)
      }
      if calls.isEmpty { return }
      // Let go at once: there may be many.
      for index in calls.indices { exchange(&calls[index], with: nil)?() }
    }
  }
}
