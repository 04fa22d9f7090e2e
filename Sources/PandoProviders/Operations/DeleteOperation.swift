import PandoConsistency
import FoundationEssentials
import PandoModels
import PandoStore

/// Nodes that are deleted, with all that can't be without them.
final class DeleteOperation: ManagedOperation {
  let context: (any Sendable)?
  let outcome = PendingWrite()
  let holder: (any LiveHolder)? = nil
  let subjects: [String]
  private let models: [any SimpleModel]
  private let manager: DataModelManager
  private let date = Date()

  init(_ models: [any SimpleModel], context: (any Sendable)?, manager: DataModelManager) {
    self.manager = manager
    self.models = models
    self.context = context
    subjects = models.compactMap(\.modelIdentifier)
  }

  var cacheKeys: [String] { subjects }

  func makeUpdate() -> LiveUpdate {
    var update = LiveUpdate(deleting: subjects, context: context)
    update.models = models
    update.date = date
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    for identifier in subjects { try transaction.delete(identifier) }
  }

  func write(to cache: any CacheDelegate) async throws {
    for identifier in subjects { try await cache.deleteModel(forKey: identifier, context: context) }
    // Live collections have lost them by then.
    await manager.consistencyManager.processed()
    for (_, topic) in manager.topics.all { try await topic.writeLoss(to: cache, context: context) }
  }

  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
