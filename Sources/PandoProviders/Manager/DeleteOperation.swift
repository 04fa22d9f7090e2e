import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// A deletion of nodes and of all nodes that require them.
final class DeleteOperation: ManagedOperation {
  let context: (any Sendable)?
  let outcome = PendingWrite()
  let holderNumber: UInt64? = nil
  let subjects: [String]
  private let models: [any SimpleModel]
  private let manager: DataModelManager
  private let date = Date()
  let isWritten: Bool
  /// The collections that have lost stored elements, then the writes of a custom cache for them.
  private let losses = Locked<(topics: [any StoreTopic], writes: [CacheLoss])>(([], []))

  init(
    _ models: [any SimpleModel], isWritten: Bool, context: (any Sendable)?,
    manager: DataModelManager
  ) {
    self.isWritten = isWritten
    self.manager = manager
    self.models = models
    self.context = context
    subjects = models.compactMap(\.modelIdentifier)
  }

  /// Creates a deletion of nodes whose models are not at hand.
  init(
    identifiers: [String], isWritten: Bool, context: (any Sendable)?, manager: DataModelManager
  ) {
    self.isWritten = isWritten
    self.manager = manager
    self.context = context
    models = []
    subjects = identifiers
  }

  var cacheKeys: [String] { subjects }

  func makeUpdate() -> LiveUpdate {
    var update = LiveUpdate(deleting: subjects, context: context)
    update.models = models
    update.date = date
    if !isWritten, !manager.isMemoryOnly { update.hidden = update.deleted }
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    try transaction.delete(subjects)
  }

  func write(to cache: any CacheDelegate) async throws {
    for identifier in subjects { try await cache.deleteModel(forKey: identifier, context: context) }
    for write in losses.withLock({ exchange(&$0.writes, with: []) }) { try await write(cache) }
  }

  /// Records a collection that loses stored elements.
  ///
  /// Called on the pipeline.
  func noteLoss(of topic: any StoreTopic) { losses.withLock { $0.topics.append(topic) } }

  func finish(_ scope: PipelineScope) {
    let topics = losses.withLock { exchange(&$0.topics, with: []) }
    var writes = topics.compactMap { $0.makeLoss(context: context) }
    writes += manager.topics.all.compactMap { $1.makeUnreadLoss(of: subjects, context: context) }
    losses.withLock { $0.writes = writes }
  }

  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
