import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore

/// A change of models that no provider makes.
final class UpdateOperation: ManagedOperation {
  let context: (any Sendable)?
  let outcome = PendingWrite()
  let holderNumber: UInt64? = nil
  let isWritten: Bool
  private let models: [any SimpleModel]
  private let date = Date()

  init(_ models: [any SimpleModel], isWritten: Bool, context: (any Sendable)?) {
    self.isWritten = isWritten
    self.models = models
    self.context = context
  }

  var subjects: [String] { models.compactMap(\.modelIdentifier) }
  var cacheKeys: [String] { subjects }

  func makeUpdate() -> LiveUpdate {
    LiveUpdate(setting: models, context: context, date: date)
  }

  func write(_ transaction: inout ModelTransaction) throws {
    for model in models { try transaction.setTree(model) }
  }

  func write(to cache: any CacheDelegate) async throws {
    for model in models { try await cache.set(model, context) }
  }

  func write(to shelf: MemoryShelf, _ scope: PipelineScope) { shelf.keep(models, scope) }

  func fail(_ error: any Error, _ scope: PipelineScope) {}
}
