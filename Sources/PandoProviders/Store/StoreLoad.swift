import PandoConsistency
import PandoModels
import PandoStore

/// Something that is read from the store and shown from then on: it joins the live trees at the exact
/// commit that it was read from.
protocol StoreLoad: AnyObject, Sendable {
  /// Reads; of several calls the last one counts. Any thread.
  func read(_ snapshot: ModelSnapshot) throws

  /// The identifiers and cache keys that it asks for, found or not.
  var keys: [ByteString] { get }

  /// The nodes of what was read, and those that it goes on to wait for.
  var nodes: [LiveNode] { get }

  /// Whether nothing was found: then queued writes are waited for, which may bring it.
  var isMiss: Bool { get }

  /// Registers and shows what was read. Pipeline; called once.
  ///
  /// - Parameters:
  ///   - error: Why it could not be read.
  ///   - scope: Keeps the registry.
  func finish(_ error: (any Error)?, _ scope: PipelineScope)
}

/// A live collection, as the store bridge knows it.
protocol StoreTopic: AnyObject, Sendable {
  /// Whether it is being forgotten: then another one may take its place.
  var isRetired: Bool { get }

  /// Writes the list to a custom cache, if elements have gone from it because they were deleted.
  func writeLoss(to cache: any CacheDelegate, context: (any Sendable)?) async throws

  /// Reads what it needs of a commit that has changed its list. Writer thread, inside the
  /// transaction; may be called again when the flush is run again. On the pipeline where the store is
  /// read-only.
  ///
  /// - Parameters:
  ///   - changes: What has happened to the list, one change a commit, in order; `nil` if that is not
  ///     known: all of it has to be read.
  ///   - operation: The operation that the commit carries out; `nil` if it is not one of this manager.
  ///   - isAlone: Whether the changes are the operation's, and those of no other commit.
  ///   - snapshot: The store as the commit leaves it.
  /// - Returns: Comes as the update's topic; a ``TreeCarrier`` if it holds models.
  /// - Throws: Why it can't be read; it is reported, and the list stays as it was.
  func prepare(
    _ changes: [CollectionChange]?, _ operation: (any ManagedOperation)?, isAlone: Bool,
    in snapshot: ModelSnapshot
  ) throws -> any Sendable
}

/// Something that was read and brings trees along.
protocol TreeCarrier {
  /// All nodes of these trees.
  var nodes: [LiveNode] { get }
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
