import PandoConsistency
import PandoModels
import PandoStore

/// Something that is read from the store and shown from then on: it joins the live trees at the exact
/// commit that it was read from.
protocol StoreLoad: AnyObject, Sendable {
  /// Reads; of several calls the last one counts. Any thread.
  func read(_ snapshot: ModelSnapshot) throws

  /// The identifiers and cache keys that it asks for, and those of all nodes that were found.
  var keys: [ByteString] { get }
  /// Whether nothing was found: then queued writes are waited for, which may bring it.
  var isMiss: Bool { get }

  /// Registers and shows what was read. Pipeline; called once.
  ///
  /// - Parameters:
  ///   - error: Why it could not be read.
  ///   - scope: Keeps the registry.
  func finish(_ error: (any Error)?, _ scope: PipelineScope)
}

/// Writes what is left of a list to a custom cache.
typealias CacheLoss = @Sendable (any CacheDelegate) async throws -> Void

/// A live collection, as the store bridge knows it.
protocol StoreTopic: AnyObject, Sendable {
  /// Whether it is being forgotten: then another one may take its place.
  var isRetired: Bool { get }

  /// What a custom cache is given after elements have gone from the list because their models were
  /// deleted; `nil` if nothing. Pipeline, right after that.
  func makeLoss(context: (any Sendable)?) -> CacheLoss?

  /// Takes deleted elements out of a list that a custom cache has and nobody has read.
  func removeUnread(
    _ identifiers: [String], from cache: any CacheDelegate, context: (any Sendable)?
  ) async throws

  /// Says what a commit does to the list, from the models that its write was given.
  ///
  /// - Parameters:
  ///   - change: What has happened to the list.
  ///   - content: What came into it.
  ///   - operation: The operation that the commit carries out; `nil` if it is not one of this manager.
  /// - Returns: Comes as the update's topic; `nil` if the list has to be read.
  func commit(
    _ change: CollectionChange, _ content: ListContent?, _ operation: (any ManagedOperation)?
  ) -> (any Sendable)?

  /// Says that a commit could not be read, and that what this manager has asked for in it is about to
  /// be shown. Pipeline.
  func beginUnread()

  /// Says that this is shown. Pipeline.
  ///
  /// - Parameter isChanged: Whether the commit has changed the list: then all of it is read when it can
  ///   be.
  func endUnread(isChanged: Bool)

  /// Says that nodes can't be decoded as live trees show them.
  ///
  /// - Returns: Whether the list shows one: then all of it is to be read.
  func loses(_ nodes: Set<ByteString>) -> Bool

  /// Whether an element is left out that holds one of some nodes, because it can't be decoded.
  func hides(_ nodes: Set<ByteString>) -> Bool

  /// Reads what it needs of several commits.
  ///
  /// - Parameters:
  ///   - changes: What has happened to the list, one change a commit, in order; `nil` if that is not
  ///     known: all of it has to be read.
  ///   - operations: The operations of this manager among the commits.
  ///   - snapshot: The store as the last commit leaves it.
  /// - Returns: Comes as the update's topic.
  /// - Throws: Why it can't be read; it is reported, and the list stays as it was.
  func read(
    _ changes: [CollectionChange]?, _ operations: [any ManagedOperation],
    in snapshot: ModelSnapshot
  ) throws -> any Sendable
}

extension ModelSnapshot {
  /// Returns a model of a type that is known at run time only.
  ///
  /// - Throws: As ``ModelSnapshot/model(_:as:)``; ``DataProviderError`` `notCodable`.
  func live(_ identifier: String, as type: any SimpleModel.Type) throws -> (any SimpleModel)? {
    guard let type = type as? any (SimpleModel & Decodable).Type else {
      throw DataProviderError.notCodable(type)
    }
    return try read(identifier, type)
  }

  private func read<M: SimpleModel & Decodable>(
    _ identifier: String, _ type: M.Type
  ) throws -> (any SimpleModel)? {
    try model(identifier, as: type)
  }
}
