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
  /// The keys under which a custom cache is written.
  var cacheKeys: [String] { get }

  /// What it does to live trees, as far as the operation knows by itself.
  ///
  /// With a store this is asked inside the transaction, after ``write(_:)``, and completed with what
  /// the commit says.
  func makeUpdate() -> LiveUpdate

  /// Carries it out in the store. Writer thread; may be called again when the flush is run again.
  func write(_ transaction: inout ModelTransaction) throws

  /// Reads what it needs of its own transaction, after ``write(_:)``. Writer thread; may be called
  /// again when the flush is run again.
  ///
  /// - Returns: Trees that it goes on to register, and identifiers that it goes on to wait for:
  ///   commits behind this one read what these need.
  func prepare(in snapshot: ModelSnapshot) throws -> [LiveNode]

  /// Carries it out in a custom cache.
  func write(to cache: any CacheDelegate) async throws

  /// Called when it is in the live trees. Pipeline.
  func finish(_ scope: PipelineScope)

  /// Takes it back from whoever shows it already. Pipeline.
  func fail(_ error: any Error, _ scope: PipelineScope)
}

extension ManagedOperation {
  var subjects: [String] { [] }
  var isChange: Bool { true }
  var cacheKeys: [String] { [] }

  func prepare(in snapshot: ModelSnapshot) throws -> [LiveNode] { [] }

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
      operation.outcome.finish(.failure(refusal))
      operation.fail(refusal, self)
      report(refusal)
      return false
    }
    apply(update)
    operation.finish(self)
    return true
  }
}

/// A node that a live tree holds, or waits for, as one type.
struct LiveNode {
  let identifier: ByteString
  let type: any SimpleModel.Type

  /// All nodes of a tree, a parent before its children.
  static func nodes(of tree: any SimpleModel) -> [LiveNode] {
    var nodes: [LiveNode] = []
    append(tree, to: &nodes)
    return nodes
  }

  private static func append(_ tree: any SimpleModel, to nodes: inout [LiveNode]) {
    if let identifier = tree.modelIdentifier {
      nodes.append(LiveNode(identifier: ByteString(identifier), type: Swift.type(of: tree)))
    }
    if let model = tree as? any Model { model.forEach { append($0, to: &nodes) } }
  }
}
