import Dispatch
import PandoSystem

/// Calls people back, one after another, in the order in which the calls were queued.
package final class Deliverer: Sendable {
  private struct State {
    var calls: [(@Sendable () -> Void)?] = []
    /// Whether somebody drains, or is about to.
    var isDraining = false
    /// The thread that makes calls now; 0 if none does.
    var caller: UInt = 0
    /// Whether a drain of a concurrent queue waits for the caller.
    var isDrainDue = false
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

  /// Makes a call if this runs on the queue that calls come on and no other call is under way, or in such a call.
  ///
  /// - Returns: Whether it was made.
  package func callHere(_ call: () -> Void) -> Bool {
    let thread = currentThread()
    let isOnQueue = isOnQueue
    let caller = state.withLock { state in
      let caller = state.caller
      if isOnQueue, caller == 0 { state.caller = thread }
      return caller
    }
    guard caller == thread || isOnQueue && caller == 0 else { return false }
    call()
    if caller == 0 { end() }
    return true
  }

  /// Whether this runs on the queue that calls come on.
  private var isOnQueue: Bool {
    guard case .queue(let queue) = target.kind else { return false }
    return DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue)
  }

  /// Lets others make calls again.
  private func end() {
    let isDrainDue = state.withLock { state in
      state.caller = 0
      return exchange(&state.isDrainDue, with: false)
    }
    if isDrainDue { start() }
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
    let thread = currentThread()
    let isAlone = state.withLock { state in
      if state.caller == 0 { state.caller = thread } else { state.isDrainDue = true }
      return !state.isDrainDue
    }
    guard isAlone else { return }
    var calls: [(@Sendable () -> Void)?] = []
    while true {
      calls.removeAll(keepingCapacity: calls.count <= Self.keptCountMaximum)
      state.withLock { state in
        if state.calls.isEmpty { (state.isDraining, state.caller) = (false, 0) }
        swap(&state.calls, &calls)
      }
      if calls.isEmpty { return }
      // Let go at once: there may be many.
      for index in calls.indices { exchange(&calls[index], with: nil)?() }
    }
  }
}
