import Dispatch
import PandoSystem

/// Makes queued callbacks, one after another, in the order of the queue.
package final class Deliverer: Sendable {
  private struct State {
    var calls: [(@Sendable () -> Void)?] = []
    /// True if a thread drains the queue or is about to.
    var isDraining = false
    /// The thread that makes callbacks now; 0 if there is none.
    var caller: UInt = 0
    /// True if the queue must be drained when the callback of `caller` ends.
    var isDrainDue = false
  }

  /// The maximum capacity of the array that is kept.
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

  /// Makes a callback at once, if the caller runs on the delivery queue and no callback runs, or if
  /// the caller is itself a callback.
  ///
  /// - Returns: True if the callback was made.
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

  /// True if this runs on the delivery queue.
  private var isOnQueue: Bool {
    guard case .queue(let queue) = target.kind else { return false }
    return DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue)
  }

  /// Ends a callback, so that other threads may make theirs.
  private func end() {
    let isDrainDue = state.withLock { state in
      state.caller = 0
      return exchange(&state.isDrainDue, with: false)
    }
    if isDrainDue { start() }
  }

  /// Queues a callback.
  package func enqueue(_ call: @escaping @Sendable () -> Void) {
    if add(call) { start() }
  }

  /// Queues a callback without starting its delivery.
  ///
  /// - Returns: True if the caller must start the delivery, by ``start()`` or ``drainHere()``.
  func add(_ call: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      state.calls.append(call)
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  /// True if ``drainHere()`` does not wait for other work, because the queue is the manager's own.
  var canDrainHere: Bool {
    target.isOwn
  }

  /// Makes the queued callbacks on the queue, but on the caller's thread.
  func drainHere() {
    guard case .queue(let queue) = target.kind else { return start() }
    queue.sync { drain() }
  }

  /// Starts to make the queued callbacks on another thread.
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
      // Released at once, because there may be many callbacks.
      for index in calls.indices { exchange(&calls[index], with: nil)?() }
    }
  }
}
