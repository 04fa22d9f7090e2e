import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// One `setData` of a provider.
final class SetOperation: ManagedOperation {
  /// The model in a type-erased box that all providers share.
  let root: any SimpleModel
  let context: (any Sendable)?
  let date = Date()
  let outcome = PendingWrite()
  let isWritten: Bool
  private let modelHolder: ModelHolder

  init(
    _ root: any SimpleModel, isWritten: Bool, context: (any Sendable)?, holder: ModelHolder
  ) {
    self.isWritten = isWritten
    self.root = root
    self.context = context
    modelHolder = holder
  }

  var holderNumber: UInt64? { modelHolder.number }
  var subjects: [String] { root.modelIdentifier.map { [$0] } ?? [] }
  var cacheKeys: [String] { subjects }

  func attach(_ scope: PipelineScope) {
    if modelHolder.state.withLock({ $0.pending.find(self) != nil }) { scope.add(modelHolder) }
  }

  func makeUpdate() -> LiveUpdate {
    LiveUpdate(setting: [root], context: context, date: date, keepsNodes: true)
  }

  func carryOutAlone(_ scope: PipelineScope) -> Bool { modelHolder.commitAlone(self, scope) }

  func write(_ transaction: inout ModelTransaction) throws { try transaction.setTree(root) }

  func write(to cache: any CacheDelegate) async throws { try await cache.set(root, context) }

  func write(to shelf: MemoryShelf, _ scope: PipelineScope) { shelf.keep([root], scope) }

  func fail(_ error: any Error, _ scope: PipelineScope) { modelHolder.takeBack(self, scope) }
}

extension ModelTransaction {
  /// Stores a tree; of a root without an identifier, the nodes that it contains.
  mutating func setTree(_ root: any SimpleModel) throws {
    if root.modelIdentifier != nil {
      guard let model = root as? any (SimpleModel & Encodable) else {
        throw DataProviderError.notCodable(type(of: root))
      }
      return try set(model)
    }
    guard let root = root as? any Model else { return }
    var children: [any Model] = []
    root.forEach { children.append($0) }
    for child in children { try setTree(child) }
  }
}
