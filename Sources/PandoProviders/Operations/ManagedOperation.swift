import PandoConsistency
import PandoModels
import PandoStore

/// A queued change: what it does to live trees, to the store, and to a custom cache.
///
/// Its place in the order of all changes is fixed when it is performed, in one step with what its own
/// provider shows.
protocol ManagedOperation: LiveOperation {
  /// Travels to everyone who is told.
  var context: (any Sendable)? { get }
  /// What its caller waits for.
  var outcome: PendingWrite { get }
  /// What it is about, for messages: identifiers and cache keys.
  var subjects: [String] { get }
  /// Whether it changes something; else it only keeps a place in the order.
  var isChange: Bool { get }
  /// Whether the store has what it gives, once it is carried out there.
  var isStored: Bool { get }
  /// The keys under which a custom cache is written.
  var cacheKeys: [String] { get }

  /// The key of the live collection that it edits, if it does.
  var collectionKey: String? { get }
  /// Has its holder registered, which the pipeline may come to only later. Pipeline.
  func attach(_ scope: PipelineScope)
  /// What it does to live trees, as far as the operation knows by itself.
  ///
  /// With a store it is completed with what the commit says.
  func makeUpdate() -> LiveUpdate

  /// Carries it out in the store. Writer thread; may be called again when the flush is run again.
  func write(_ transaction: inout ModelTransaction) throws

  /// Carries it out in a custom cache.
  func write(to cache: any CacheDelegate) async throws

  /// Why it can't be carried out where there is no store that says so; `nil` if it can. Pipeline, at
  /// its place in the order.
  var obstacle: (any Error)? { get }

  /// Why it can't be carried out on what is kept in memory; `nil` if it can. Pipeline, before the next.
  func obstacle(on shelf: MemoryShelf) -> (any Error)?
  /// Carries it out on what is kept in memory, once it is in the live trees. Pipeline.
  func write(to shelf: MemoryShelf, _ scope: PipelineScope)

  /// Called when it is in the live trees. Pipeline.
  func finish(_ scope: PipelineScope)

  /// Takes it back from whoever shows it already. Pipeline.
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

  func finish(_ scope: PipelineScope) {}
}

extension PipelineScope {
  /// Carries out an operation in live trees only.
  ///
  /// - Returns: `false` if it has failed, because a tree that it gives is impossible.
  @discardableResult
  func carryOut(_ operation: any ManagedOperation) -> Bool {
    var update = operation.makeUpdate()
    update.operation = operation
    if let refusal = update.refusal {
      operation.fail(refusal, self)
      operation.outcome.finish(.failure(refusal))
      report(refusal)
      return false
    }
    apply(update)
    operation.finish(self)
    return true
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
