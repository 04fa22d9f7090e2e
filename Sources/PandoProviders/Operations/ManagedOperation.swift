import PandoConsistency
import PandoModels
import PandoRecords
import PandoStore

/// A queued change, with its effects on live trees, the store and a custom cache.
///
/// Its position in the order of all changes is fixed when it is performed. In the same step, its
/// own provider shows it.
protocol ManagedOperation: LiveOperation {
  /// Passed to all notified listeners.
  var context: (any Sendable)? { get }
  /// The result that the caller waits for.
  var outcome: PendingWrite { get }
  /// The affected identifiers and cache keys, for messages.
  var subjects: [String] { get }
  /// True if the operation changes data; false if it only marks a position in the order.
  var isChange: Bool { get }
  /// True if the store has the operation's data after the write.
  var isStored: Bool { get }
  /// The keys that are written in a custom cache.
  var cacheKeys: [String] { get }

  /// The key of the live collection that the operation edits; `nil` if it edits none.
  var collectionKey: String? { get }
  /// Registers the operation's holder, if the pipeline has not registered it yet. Pipeline.
  func attach(_ scope: PipelineScope)
  /// Makes the change of live trees from the operation's own data.
  ///
  /// With a store, the data of the commit are added.
  func makeUpdate() -> LiveUpdate

  /// Carries out the change, if no other live tree and no listener needs an update for it. Pipeline.
  ///
  /// - Returns: `false` if ``makeUpdate()`` is needed.
  func carryOutAlone(_ scope: PipelineScope) -> Bool

  /// Carries out the change in the store. Writer thread; called again if the flush runs again.
  func write(_ transaction: inout ModelTransaction) throws

  /// Carries out the change in a custom cache.
  func write(to cache: any CacheDelegate) async throws

  /// The reason why the change can't be carried out; `nil` if it can.
  ///
  /// Used for changes that the store does not check. Pipeline, when it is the change's turn.
  var obstacle: (any Error)? { get }

  /// Returns the error if the memory shelf can't take the change; `nil` if it can.
  ///
  /// Pipeline, before the next operation.
  func obstacle(on shelf: MemoryShelf) -> (any Error)?
  /// Carries out the change on the memory shelf, after the live trees have it. Pipeline.
  func write(to shelf: MemoryShelf, _ scope: PipelineScope)

  /// Called after the live trees have the change. Pipeline.
  func finish(_ scope: PipelineScope)

  /// Removes the change from holders that show it already. Pipeline.
  func fail(_ error: any Error, _ scope: PipelineScope)
}

extension ManagedOperation {
  var subjects: [String] { [] }
  var isChange: Bool { true }
  var isWritten: Bool { true }
  var isStored: Bool { isWritten }
  var cacheKeys: [String] { [] }
  var obstacle: (any Error)? { nil }
  func obstacle(on shelf: MemoryShelf) -> (any Error)? { nil }
  func write(to shelf: MemoryShelf, _ scope: PipelineScope) {}

  var collectionKey: String? { nil }
  func attach(_ scope: PipelineScope) {}
  func carryOutAlone(_ scope: PipelineScope) -> Bool { false }

  func finish(_ scope: PipelineScope) {}

  /// Ends the operation with an error.
  ///
  /// Pipeline. Takes a change back and reports it, then resumes the caller.
  func end(_ error: any Error, _ reporter: ManagerReporter, _ scope: PipelineScope) {
    fail(error, scope)
    if isChange { reporter.report(.failedWrite(error, of: subjects, context: context)) }
    outcome.finish(.failure(error))
  }
}

extension PipelineScope {
  /// Carries out an operation in live trees only.
  ///
  /// - Returns: `false` if the operation has failed, because one of its trees is invalid.
  @discardableResult
  func carryOut(_ operation: any ManagedOperation) -> Bool {
    if operation.carryOutAlone(self) {
      operation.finish(self)
      return true
    }
    var update = operation.makeUpdate()
    update.operation = operation
    if let refusal = update.refusal {
      refuse(operation, refusal)
      return false
    }
    apply(update)
    operation.finish(self)
    return true
  }

  /// Ends an operation with an invalid tree.
  func refuse(_ operation: any ManagedOperation, _ refusal: ConsistencyError) {
    operation.fail(refusal, self)
    operation.outcome.finish(.failure(refusal))
    report(refusal)
  }
}

extension SimpleModel {
  /// The identifiers of all nodes of a tree.
  var nodeIdentifiers: [ByteString] {
    guard let tree = self as? any Model else {
      return modelIdentifier.map { [ByteString($0)] } ?? []
    }
    var found: [ByteString] = []
    ModelChildren.walk(tree) { _, identifier in
      if let identifier { found.append(ByteString(identifier)) }
      return true
    }
    return found
  }
}
