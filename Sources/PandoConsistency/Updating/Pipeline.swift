import Dispatch
import PandoSystem
import PandoModels

/// The one place where updates are worked out and published, in the order in which they were queued.
///
/// Whoever has nothing more to work out goes on to tell what was published, if nobody does already: on
/// the delivery queue, but without waking another thread. Others may work meanwhile.
final class Pipeline: @unchecked Sendable {
  // Sendable because `scope` is used by the one who drains only, and `state` says who that is.

  enum Command: Sendable {
    indirect case update(LiveUpdate)
    /// An update in memory that ``ConsistencyManager/clearListenersAndCancelAllTasks()`` can cancel.
    indirect case cancellable(LiveUpdate, epoch: UInt64)
    case run(@Sendable (PipelineScope) -> Void)
    case add(any LiveHolder)
    /// One that has been carried out.
    case done
  }

  private struct State {
    var commands: [Command] = []
    var isDraining = false
    /// Grows when what is queued is cancelled.
    var epoch: UInt64 = 0
  }

  /// How often others are woken to go on with what is worked out, while there is more to work out.
  private static let nanosecondsBetweenWakings: UInt64 = 50_000
  /// For how many commands room is kept.
  private static let keptCountMaximum = 4_096

  private let queue = DispatchQueue(label: "pando.consistency", attributes: .concurrent)
  private let state = Locked(State())
  private let deliverer: Deliverer
  private let scope: PipelineScope

  init(_ context: PipelineContext) {
    deliverer = context.deliverer
    scope = PipelineScope(context)
  }

  func enqueue(_ command: Command) {
    let starts = state.withLock { state in
      state.commands.append(command)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  /// Queues an update that can be cancelled.
  func enqueueCancellable(_ update: LiveUpdate) {
    enqueue(.cancellable(update, epoch: state.withLock { $0.epoch }))
  }

  /// Cancels what can be.
  func cancelAll() { state.withLock { $0.epoch += 1 } }

  private func drain() {
    var commands: [Command] = []
    var owesDelivery = false
    var lastWaking: UInt64 = 0
    while true {
      take(&commands)
      if owesDelivery { beginDelivery(isLast: commands.isEmpty) }
      if commands.isEmpty { return }
      for index in commands.indices {
        // Let go at once: there may be many.
        carryOut(exchange(&commands[index], with: .done))
        guard index != commands.count - 1, scope.owesOthers else { continue }
        let now = DispatchTime.now().uptimeNanoseconds
        if now - lastWaking < Self.nanosecondsBetweenWakings { continue }
        lastWaking = now
        scope.finishAfterwards()
        if scope.takeOwedDelivery() { deliverer.start() }
      }
      scope.finishAfterwards()
      owesDelivery = scope.takeOwedDelivery()
    }
  }

  /// Takes what is queued; if that is nothing, somebody else may drain.
  ///
  /// - Parameter commands: Commands that are carried out; their room is used again.
  private func take(_ commands: inout [Command]) {
    commands.removeAll(keepingCapacity: commands.count <= Self.keptCountMaximum)
    state.withLock { state in
      if state.commands.isEmpty { state.isDraining = false }
      swap(&state.commands, &commands)
    }
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .update(let update): scope.apply(update)
    case .cancellable(let update, let epoch):
      if state.withLock({ $0.epoch == epoch }) { scope.apply(update) }
    case .run(let work): work(scope)
    case .add(let holder): scope.add(holder)
    case .done: break
    }
  }

  /// Has told what was published: beside the work that is left, or here if there is none.
  private func beginDelivery(isLast: Bool) {
    if isLast, deliverer.canDrainHere { deliverer.drainHere() } else { deliverer.start() }
  }
}
