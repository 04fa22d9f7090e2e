package import Locking
package import ModelCore

/// Keeps every live tree true: a node that changes, changes in every tree that shows it.
///
/// Updates are worked out one after another on a pipeline of the manager's own, published in one step
/// each, and told on the delivery target. Any thread may call it.
public final class ConsistencyManager: Sendable {
  let registry = Locked(LiveRegistry())
  let pipeline: Pipeline
  package let deliverer: Deliverer
  /// Held for writing while an update is published, so that readers of several trees see all or none.
  package let publishing = ReadWriteLock()
  private let lastHolder = Locked<UInt64>(0)

  /// Makes a manager that nobody listens to.
  ///
  /// - Parameter target: Where listeners are called.
  public init(deliveringOn target: DeliveryTarget = .ownQueue) {
    deliverer = Deliverer(target)
    pipeline = Pipeline(registry: registry, deliverer: deliverer, publishing: publishing)
  }

  /// Gives a number to a new holder.
  package func makeHolderNumber() -> UInt64 {
    lastHolder.withLock { last in
      last += 1
      return last
    }
  }

  /// Queues an update; its place in the order is fixed when this returns.
  package func enqueue(_ update: LiveUpdate) { pipeline.enqueue(.update(update)) }

  /// Queues work on the pipeline, in the same order as updates.
  package func enqueue(_ work: @escaping @Sendable (PipelineScope) -> Void) {
    pipeline.enqueue(.run(work))
  }

  /// Tells by which types live trees hold a node; empty if none does.
  package func liveTypes(of identifier: String) -> [any SimpleModel.Type] {
    registry.withLock { $0.entries[ByteString(identifier)]?.types ?? [] }
  }

  /// All nodes that live trees hold or wait for, with the types by which they do.
  package func liveNodes() -> [(identifier: ByteString, types: [any SimpleModel.Type])] {
    registry.withLock { $0.entries.map { ($0.key, $0.value.types) } }
  }

  /// Whether somebody is registered for a topic.
  package func hasSubscriber(of topic: String) -> Bool {
    registry.withLock { $0.topics[ByteString(topic)] != nil }
  }
}
