package import PandoModels
import PandoSystem

/// Keeps all live trees consistent: a changed node changes in each tree that contains it.
///
/// ```swift
/// let manager = ConsistencyManager()
/// manager.addListener(view)
/// manager.updateModel(Person(id: 7, name: "Ada"), context: "a push")
/// await manager.drain()  // view has received the change
/// ```
///
/// A pipeline processes updates one after another, and publishes each in one step. Listeners are
/// called on the delivery target. Any thread may call the manager.
///
/// Use a `DataModelManager` with providers if the data are in a store or cache.
public final class ConsistencyManager: Sendable {
  /// The default maximum number of queued callbacks of one listener.
  ///
  /// It lasts for one minute of 160 updates a second, and takes a few megabytes.
  public static let defaultBacklogLimit = 10_000

  let registry = Locked(LiveRegistry())
  package let pipeline: Pipeline
  /// The state that the pipeline uses for this manager; used on the pipeline only.
  package let scope: PipelineScope
  let context: PipelineContext
  package let deliverer: Deliverer
  let reporter: Reporter
  let listeners = Locked(ListenerTable())
  let updatesListeners = UpdatesListeners()
  /// The maximum number of queued callbacks of one listener.
  ///
  /// At the limit the listener is paused until its queue is empty.
  package let backlogLimit: Int
  private let lastHolder = Locked<UInt64>(0)

  /// Creates a manager without listeners.
  ///
  /// - Parameters:
  ///   - target: The target on which listeners are called.
  ///   - backlogLimit: The maximum number of queued callbacks of one listener; at least 1. At the
  ///     limit the manager pauses the listener and reports it to the delegate. After the queue is
  ///     empty, one callback delivers the changes of the pause.
  public convenience init(
    deliveringOn target: DeliveryTarget = .ownQueue,
    backlogLimit: Int = ConsistencyManager.defaultBacklogLimit
  ) {
    self.init(deliveringOn: target, backlogLimit: backlogLimit, on: Pipeline())
  }

  /// Creates a manager that publishes its updates together with those of other managers.
  ///
  /// - Parameters:
  ///   - target: The target on which listeners are called.
  ///   - backlogLimit: The maximum number of queued callbacks of one listener; at least 1.
  ///   - pipeline: The pipeline that processes the updates.
  package init(deliveringOn target: DeliveryTarget, backlogLimit: Int, on pipeline: Pipeline) {
    precondition(backlogLimit >= 1, "the backlog limit is \(backlogLimit); it must be at least 1")
    self.backlogLimit = backlogLimit
    deliverer = Deliverer(target)
    self.pipeline = pipeline
    reporter = Reporter(updatesListeners)
    context = PipelineContext(
      registry: registry, deliverer: deliverer, pipeline: pipeline, reporter: reporter)
    scope = PipelineScope(context)
    reporter.attach(self)
  }

  /// The delegate that receives replacements and mistakes, on a serial queue of its own; not
  /// retained.
  ///
  /// Replacements are collected only while there is a delegate.
  public weak var delegate: (any ConsistencyManagerDelegate)? {
    get { reporter.delegate }
    set { reporter.delegate = newValue }
  }

  /// Returns a number for a new holder.
  package func makeHolderNumber() -> UInt64 {
    lastHolder.withLock { last in
      last += 1
      return last
    }
  }

  /// Queues an update; its position in the order is fixed when this returns.
  package func enqueue(_ update: LiveUpdate) { pipeline.enqueue(.update(update, scope)) }

  /// Queues work on the pipeline, in the same order as updates.
  package func enqueue(_ work: @escaping @Sendable (PipelineScope) -> Void) {
    pipeline.enqueue(.run(scope, work))
  }

  /// Registers a holder, in the same order as updates.
  package func add(_ holder: any LiveHolder) { pipeline.enqueue(.add(holder, scope)) }

  /// Reports a mistake or a failure to the delegate.
  package func report(_ mistake: ConsistencyError) { reporter.report([mistake]) }

  /// Sets a second receiver of mistakes.
  ///
  /// It is called on the thread that finds them.
  package func setMistakeHandler(_ handler: @escaping @Sendable (ConsistencyError) -> Void) {
    reporter.setMistakeHandler(handler)
  }

  /// The count of providers, collections and listeners that show data.
  public var liveViewCount: Int { registry.withLock { $0.holders.count } }

  /// True if a holder shows data, or if there is a listener of all updates.
  package var isWatched: Bool {
    registry.withLock { $0.holders.count > 0 } || !updatesListeners.active.isEmpty
  }

  /// Returns the types in which live trees contain a node; empty if none contains it.
  package func liveTypes(of identifier: String) -> [any SimpleModel.Type] {
    registry.withLock { $0.types(of: ByteString(identifier)) }
  }

  /// Returns the nodes that live trees contain or wait for, each with its types.
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

  /// Returns true if live trees contain or wait for one of some nodes.
  package func containsAny(of nodes: @autoclosure () -> [[ByteString]]) -> Bool {
    registry.withLock { registry in
      guard !registry.entryNumbers.isEmpty else { return false }
      return nodes().joined().contains { registry.entryNumbers[$0] != nil }
    }
  }

  /// Returns all nodes that live trees contain or wait for, each with its types.
  package func liveNodes() -> [(identifier: ByteString, types: [any SimpleModel.Type])] {
    registry.withLock { registry in
      registry.entryNumbers.map { ($0.key, registry.entries[$0.value].types) }
    }
  }

  /// The counts of registered nodes, trees, holders and listeners.
  package var registeredCounts: RegisteredCounts {
    let count = listeners.withLock { $0.holders.count }
    return registry.withLock {
      RegisteredCounts(
        nodes: $0.entries.count, trees: $0.rows.count, holders: $0.holders.count, listeners: count)
    }
  }
}

/// The counts of a manager's registrations.
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
  /// Calls a closure after all queued calls of the delegate.
  package func reportQueueReached(_ body: @escaping @Sendable () -> Void) {
    reporter.afterAll(body)
  }
}
