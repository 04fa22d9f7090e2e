import Dispatch
import PandoModels
package import PandoSystem

/// The one place where updates are worked out and published, in the order in which they were queued.
///
/// Managers over one store share one: what a commit changes is published for all of them in one step.
///
/// Whoever has nothing more to work out goes on to tell what was published, if nobody does already: on
/// the delivery queue, but without waking another thread. Others may work meanwhile.
package final class Pipeline: @unchecked Sendable {
  // Sendable because `owing` and the scopes are used by the one who drains only, and `state` says who
  // that is.

  enum Command: Sendable {
    indirect case update(LiveUpdate, PipelineScope)
    /// An update in memory that ``ConsistencyManager/clearListenersAndCancelAllTasks(_:)`` can cancel.
    indirect case cancellable(LiveUpdate, PipelineScope, epoch: UInt64)
    case run(PipelineScope, @Sendable (PipelineScope) -> Void)
    case add(any LiveHolder, PipelineScope)
    /// Work that concerns several scopes.
    case work(@Sendable () -> Void)
    /// One that has been carried out.
    case done
  }

  /// Scopes that owe something to others: callbacks that nobody makes yet, or work for afterwards.
  final class Owing {
    var scopes: [PipelineScope] = []
  }

  private struct State {
    var commands: [Command] = []
    var isDraining = false
  }

  /// How often others are woken to go on with what is worked out, while there is more to work out.
  private static let nanosecondsBetweenWakings: UInt64 = 50_000
  /// For how many commands room is kept.
  private static let keptCountMaximum = 4_096
  /// Held for writing while something is published, so that readers of several trees see all or none.
  package let publishing = ReadWriteLock()
  private let queue = DispatchQueue(label: "pando.consistency", attributes: .concurrent)
  private let state = Locked(State())
  let owing = Owing()

  package init() {}

  /// Queues a command; its place in the order is fixed when this returns.
  func enqueue(_ command: Command) {
    let starts = state.withLock { state in
      state.commands.append(command)
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if starts { queue.async { self.drain() } }
  }

  /// Queues work that concerns several managers, in the same order as their updates.
  package func enqueue(_ work: @escaping @Sendable () -> Void) { enqueue(.work(work)) }

  /// Whether all that was queued before has been worked out and published.
  package var rests: Bool { state.withLock { !$0.isDraining } }

  /// Does something at once, as if it had been queued and carried out, if nothing is queued or at work.
  ///
  /// What is queued meanwhile is carried out afterwards, on another thread.
  ///
  /// - Parameter work: Quick, and waits for nobody.
  /// - Returns: Whether it was done.
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

  /// Works off what is queued.
  private func drain() {
    var commands: [Command] = []
    var owed: [PipelineScope] = []
    var lastWaking: UInt64 = 0
    while true {
      take(&commands)
      if !owed.isEmpty { beginDelivery(exchange(&owed, with: []), isLast: commands.isEmpty) }
      if commands.isEmpty { return }
      for index in commands.indices {
        // Let go at once: there may be many.
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

  /// Does what was left for afterwards.
  ///
  /// - Returns: Those who owe callbacks besides.
  private func finishAfterwards() -> [PipelineScope] {
    if owing.scopes.isEmpty { return [] }
    var owed: [PipelineScope] = []
    for scope in exchange(&owing.scopes, with: []) where scope.finishAfterwards() {
      owed.append(scope)
    }
    return owed
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
    case .update(let update, let scope): scope.apply(update)
    case .cancellable(let update, let scope, let epoch):
      if scope.isCurrent(epoch) { scope.apply(update) }
    case .run(let scope, let work): work(scope)
    case .add(let holder, let scope): scope.add(holder)
    case .work(let work): work()
    case .done: break
    }
  }

  /// Has told what was published: beside the work that is left, or here if there is none.
  private func beginDelivery(_ owed: [PipelineScope], isLast: Bool) {
    if isLast, owed.count == 1, owed[0].deliverer.canDrainHere {
      owed[0].deliverer.drainHere()
    } else {
      for scope in owed { scope.deliverer.start() }
    }
  }
}
