import Locking
package import ModelCore

/// What may be done on the pipeline: regenerate trees, register them, publish and deliver.
///
/// It is confined to the pipeline; work that gets one uses it in that call only.
package final class PipelineScope {
  private let registry: Locked<LiveRegistry>
  private let deliverer: Deliverer
  private let publishing: ReadWriteLock
  private var regenerator = Regenerator(update: LiveUpdate())

  init(_ registry: Locked<LiveRegistry>, _ deliverer: Deliverer, _ publishing: ReadWriteLock) {
    self.registry = registry
    self.deliverer = deliverer
    self.publishing = publishing
  }

  /// Works out an update, publishes it in one step, and queues what is to be told.
  package func apply(_ update: LiveUpdate) {
    regenerator = Regenerator(update: update)
    let affected = registry.withLock { $0.affected(by: update) }
    publish(affected.compactMap { $0.holder.stage(update, rows: $0.rows, self) }, update)
  }

  /// Publishes changes in one step and queues what is to be told of them.
  package func publish(_ changes: [any StagedChange], _ update: LiveUpdate) {
    guard !changes.isEmpty else { return }
    publishing.writing { for change in changes { change.publish() } }
    deliverer.enqueue {
      var batches: [(batch: any LiveBatch, changes: [any StagedChange])] = []
      for change in changes {
        change.deliver()
        guard let batch = change.batch else { continue }
        if let index = batches.firstIndex(where: { $0.batch === batch }) {
          batches[index].changes.append(change)
        } else {
          batches.append((batch, [change]))
        }
      }
      for entry in batches { entry.batch.deliver(entry.changes, update) }
    }
  }

  /// What the update that is being worked out makes of a tree; `nil` if it stays as it is.
  package func regenerate(_ tree: any SimpleModel) -> Regeneration? { regenerator.regenerate(tree) }

  /// Begins to keep a holder; its trees are registered one by one.
  package func add(_ holder: any LiveHolder) {
    registry.withLock { $0.holders[holder.number] = holder }
  }

  /// Forgets a holder; its trees and topics have been unregistered before.
  package func remove(_ holder: any LiveHolder) {
    registry.withLock { _ = $0.holders.removeValue(forKey: holder.number) }
  }

  /// Replaces the tree of a row in the registry.
  ///
  /// - Parameters:
  ///   - holder: The owner.
  ///   - row: Which of its trees.
  ///   - old: The tree that is registered; `nil` if there is none.
  ///   - new: The tree from now on; `nil` to unregister it.
  package func register(
    _ holder: any LiveHolder, row: LiveRow, old: (any SimpleModel)?, new: (any SimpleModel)?
  ) {
    let slot = LiveRegistry.Slot(holder: holder.number, row: row)
    registry.withLock { registry in
      if let old { Self.forEachNode(of: old) { node, _ in registry.remove(node, slot) } }
      if let new { Self.forEachNode(of: new) { registry.insert($0, $1, slot) } }
    }
  }

  /// Registers a row for an identifier that is not there yet.
  package func registerAbsent(
    _ holder: any LiveHolder, row: LiveRow, identifier: String, as type: any SimpleModel.Type
  ) {
    let slot = LiveRegistry.Slot(holder: holder.number, row: row)
    registry.withLock { $0.insert(ByteString(identifier), type, slot) }
  }

  /// Ends what ``registerAbsent(_:row:identifier:as:)`` began.
  package func unregisterAbsent(_ holder: any LiveHolder, row: LiveRow, identifier: String) {
    let slot = LiveRegistry.Slot(holder: holder.number, row: row)
    registry.withLock { $0.remove(ByteString(identifier), slot) }
  }

  /// Has a holder asked when an update touches a topic.
  package func subscribe(_ holder: any LiveHolder, to topic: String) {
    registry.withLock { _ = $0.topics[ByteString(topic), default: []].insert(holder.number) }
  }

  /// Ends what ``subscribe(_:to:)`` began.
  package func unsubscribe(_ holder: any LiveHolder, from topic: String) {
    registry.withLock { registry in
      let key = ByteString(topic)
      registry.topics[key]?.remove(holder.number)
      if registry.topics[key]?.isEmpty == true { registry.topics[key] = nil }
    }
  }

  private static func forEachNode(
    of tree: any SimpleModel, _ visit: (ByteString, any SimpleModel.Type) -> Void
  ) {
    if let identifier = tree.modelIdentifier { visit(ByteString(identifier), type(of: tree)) }
    if let model = tree as? any Model { model.forEach { forEachNode(of: $0, visit) } }
  }
}
