import Dispatch
import PandoModels
package import PandoSystem

/// Processes and publishes updates, in the order in which they were queued.
///
/// Managers of one store share a pipeline, so that a commit is published for all of them in one
/// step.
///
/// If the queue is empty, the thread of the pipeline also delivers the published changes, unless
/// another thread does so. It uses the delivery queue without starting another thread. Meanwhile
/// another thread may process new updates.
package final class Pipeline: @unchecked Sendable {
  // Sendable because `owing` and the scopes are used by the draining thread only. `state`
  // determines which thread that is.

  enum Command: Sendable {
    indirect case update(LiveUpdate, PipelineScope)
    /// An update in memory that ``ConsistencyManager/clearListenersAndCancelAllTasks(_:)`` can
    /// cancel.
    indirect case cancellable(LiveUpdate, PipelineScope, epoch: UInt64)
    case run(PipelineScope, @Sendable (PipelineScope) -> Void)
    case add(any LiveHolder, PipelineScope)
    /// Work that affects several scopes.
    case work(@Sendable () -> Void)
    /// A command that was carried out.
    case done
  }

  /// Scopes with callbacks that no thread delivers yet, or with deferred work.
  final class Owing {
    var scopes: [PipelineScope] = []
  }

  private struct State {
    var commands: [Command] = []
    var isDraining = false
  }

  /// The minimum interval at which delivery threads are started while more updates are queued.
  private static let nanosecondsBetweenWakings: UInt64 = 50_000
  /// The maximum capacity of the array that is kept.
  private static let keptCountMaximum = 4_096
  /// Held for writing during publishing, so that readers of several trees see all of a change or
  /// none.
  package let publishing = ReadWriteLock()
  private let queue = DispatchQueue(label: "pando.consistency", attributes: .concurrent)
  private let state = Locked(State())
  let owing = Owing()

  package init() {}

  /// Queues a command; its position in the order is fixed when this returns.
  func enqueue(_ command: Command) {
    let starts = state.withLock { state in
      state.commands.append(command)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  /// Queues work for several managers, in the same order as their updates.
  package func enqueue(_ work: @escaping @Sendable () -> Void) { enqueue(.work(work)) }

  /// True if all queued work has been processed and published.
  package var rests: Bool { state.withLock { !$0.isDraining } }

  /// Runs work at once, as if it had been queued, if nothing is queued or running.
  ///
  /// Commands queued meanwhile run afterwards, on another thread.
  ///
  /// - Parameter work: A quick closure that does not wait.
  /// - Returns: True if the work was done.
  package func runIfResting(_ work: () -> Void) -> Bool {
    let isFree = state.withLock { state in !exchange(&state.isDraining, with: true) }
    guard isFree else { return false }
    work()
    let isLeft = state.withLock { state in
      state.isDraining = !state.commands.isEmpty
      return state.isDraining
    }
    if isLeft { queue.async { self.drain() } }
    return true
  }

  /// Processes the queued commands.
  private func drain() {
    var commands: [Command] = []
    var owed: [PipelineScope] = []
    var lastWaking: UInt64 = 0
    while true {
      take(&commands)
      if !owed.isEmpty { beginDelivery(exchange(&owed, with: []), isLast: commands.isEmpty) }
      if commands.isEmpty { return }
      for index in commands.indices {
        // Released at once, because there may be many commands.
        carryOut(exchange(&commands[index], with: .done))
        guard index != commands.count - 1, !owing.scopes.isEmpty else { continue }
        let now = DispatchTime.now().uptimeNanoseconds
        if now - lastWaking < Self.nanosecondsBetweenWakings { continue }
        lastWaking = now
        for scope in finishAfterwards() { scope.deliverer.start() }
      }
      owed = finishAfterwards()
    }
  }

  /// Does the deferred work.
  ///
  /// - Returns: The scopes whose callbacks must be delivered.
  private func finishAfterwards() -> [PipelineScope] {
    if owing.scopes.isEmpty { return [] }
    var owed: [PipelineScope] = []
    for scope in exchange(&owing.scopes, with: []) where scope.finishAfterwards() {
      owed.append(scope)
    }
    return owed
  }

  /// Takes the queued commands.
  ///
  /// If there are none, another thread may drain the queue.
  ///
  /// - Parameter commands: Finished commands; their memory is used again.
  private func take(_ commands: inout [Command]) {
    commands.removeAll(keepingCapacity: commands.count <= Self.keptCountMaximum)
    state.withLock { state in
      if state.commands.isEmpty { state.isDraining = false }
      swap(&state.commands, &commands)
    }
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .update(let update, let scope): scope.apply(update)
    case .cancellable(let update, let scope, let epoch):
      if scope.isCurrent(epoch) { scope.apply(update) }
    case .run(let scope, let work): work(scope)
    case .add(let holder, let scope): scope.add(holder)
    case .work(let work): work()
    case .done: break
    }
  }

  /// Starts the delivery of published changes on other threads, or here if no work is left.
  private func beginDelivery(_ owed: [PipelineScope], isLast: Bool) {
    if isLast, owed.count == 1, owed[0].deliverer.canDrainHere {
      owed[0].deliverer.drainHere()
    } else {
      for scope in owed { scope.deliverer.start() }
    }
  }
}
