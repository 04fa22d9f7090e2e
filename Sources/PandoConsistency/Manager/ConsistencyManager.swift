package import PandoModels
import PandoSystem

/// Keeps every live tree true: a node that changes, changes in every tree that shows it.
///
/// ```swift
/// let manager = ConsistencyManager()
/// manager.addListener(view)
/// manager.updateModel(Person(id: 7, name: "Ada"), context: "a push")
/// await manager.drain()  // view has been told
/// ```
///
/// Updates are worked out one after another on a pipeline of the manager's own, published in one step
/// each, and told on the delivery target. Any thread may call it.
public final class ConsistencyManager: Sendable {
  /// How many callbacks may wait for one listener unless another limit is given: a minute's worth at
  /// 160 updates a second, and a few megabytes.
  public static let defaultBacklogLimit = 10_000

  let registry = Locked(LiveRegistry())
  package let pipeline: Pipeline
  /// What the pipeline works with on behalf of this manager; used on the pipeline only.
  package let scope: PipelineScope
  let context: PipelineContext
  package let deliverer: Deliverer
  let reporter: Reporter
  let listeners = Locked(ListenerTable())
  let updatesListeners = UpdatesListeners()
  /// How many callbacks may wait for one listener before it stands still and catches up with one.
  package let backlogLimit: Int
  private let lastHolder = Locked<UInt64>(0)

  /// Makes a manager that nobody listens to.
  ///
  /// - Parameters:
  ///   - target: Where listeners are called.
  ///   - backlogLimit: How many callbacks may wait for one listener; at least 1. At the limit the
  ///     listener stands still, the delegate is told, and it catches up with one callback when its
  ///     queue is empty.
  public convenience init(
    deliveringOn target: DeliveryTarget = .ownQueue,
    backlogLimit: Int = ConsistencyManager.defaultBacklogLimit
  ) {
    self.init(deliveringOn: target, backlogLimit: backlogLimit, on: Pipeline())
  }

  /// Makes a manager whose updates are published in step with those of others.
  ///
  /// - Parameters:
  ///   - target: Where listeners are called.
  ///   - backlogLimit: How many callbacks may wait for one listener; at least 1.
  ///   - pipeline: Where updates are worked out.
  package init(deliveringOn target: DeliveryTarget, backlogLimit: Int, on pipeline: Pipeline) {
    precondition(backlogLimit >= 1, "a backlog limit of \(backlogLimit)")
    self.backlogLimit = backlogLimit
    deliverer = Deliverer(target)
    self.pipeline = pipeline
    reporter = Reporter(updatesListeners)
    context = PipelineContext(
      registry: registry, deliverer: deliverer, pipeline: pipeline, reporter: reporter)
    scope = PipelineScope(context)
    reporter.attach(self)
  }

  /// Who is told of replacements and mistakes, on a serial queue of its own; not retained.
  ///
  /// Replacements are only collected while there is a delegate.
  public weak var delegate: (any ConsistencyManagerDelegate)? {
    get { reporter.delegate }
    set { reporter.delegate = newValue }
  }

  /// Gives a number to a new holder.
  package func makeHolderNumber() -> UInt64 {
    lastHolder.withLock { last in
      last += 1
      return last
    }
  }

  /// Queues an update; its place in the order is fixed when this returns.
  package func enqueue(_ update: LiveUpdate) { pipeline.enqueue(.update(update, scope)) }

  /// Queues work on the pipeline, in the same order as updates.
  package func enqueue(_ work: @escaping @Sendable (PipelineScope) -> Void) {
    pipeline.enqueue(.run(scope, work))
  }

  /// Begins to keep a holder, in the same order as updates.
  package func add(_ holder: any LiveHolder) { pipeline.enqueue(.add(holder, scope)) }

  /// Reports a mistake or a failure to the delegate.
  package func report(_ mistake: ConsistencyError) { reporter.report([mistake]) }

  /// Has mistakes told besides to the delegate; the handler is called where they are found.
  package func setMistakeHandler(_ handler: @escaping @Sendable (ConsistencyError) -> Void) {
    reporter.setMistakeHandler(handler)
  }

  /// How many providers, collections and listeners show something.
  public var liveViewCount: Int { registry.withLock { $0.holders.count } }

  /// Whether somebody shows anything, or listens to every update.
  package var isWatched: Bool {
    registry.withLock { $0.holders.count > 0 } || !updatesListeners.active.isEmpty
  }

  /// Tells by which types live trees hold a node; empty if none does.
  package func liveTypes(of identifier: String) -> [any SimpleModel.Type] {
    registry.withLock { $0.types(of: ByteString(identifier)) }
  }

  /// The nodes among some that live trees hold or wait for, with the types by which they do.
  package func liveNodes(
    among identifiers: [String], and others: [String] = []
  ) -> [(identifier: ByteString, types: [any SimpleModel.Type])] {
    registry.withLock { registry in
      if registry.entries.count == 0 { return [] }
      var found: [(identifier: ByteString, types: [any SimpleModel.Type])] = []
      func look(for identifiers: [String]) {
        for identifier in identifiers {
          let identifier = ByteString(identifier)
          let types = registry.types(of: identifier)
          if !types.isEmpty { found.append((identifier, types)) }
        }
      }
      look(for: identifiers)
      look(for: others)
      return found
    }
  }

  /// All nodes that live trees hold or wait for, with the types by which they do.
  package func liveNodes() -> [(identifier: ByteString, types: [any SimpleModel.Type])] {
    registry.withLock { registry in
      registry.entryNumbers.map { ($0.key, registry.entries[$0.value].types) }
    }
  }

  /// How many nodes, trees and holders are registered.
  package var registeredCounts: RegisteredCounts {
    let count = listeners.withLock { $0.holders.count }
    return registry.withLock {
      RegisteredCounts(
        nodes: $0.entries.count, trees: $0.rows.count, holders: $0.holders.count, listeners: count)
    }
  }
}

/// How much a manager keeps.
package struct RegisteredCounts: Equatable, Sendable {
  package var nodes: Int
  package var trees: Int
  package var holders: Int
  package var listeners: Int

  package init(nodes: Int, trees: Int, holders: Int, listeners: Int) {
    self.nodes = nodes
    self.trees = trees
    self.holders = holders
    self.listeners = listeners
  }
}

extension ConsistencyManager {
  /// Calls a closure after everything that is on its way to the delegate.
  package func reportQueueReached(_ body: @escaping @Sendable () -> Void) {
    reporter.afterAll(body)
  }
}
