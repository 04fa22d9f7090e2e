import PandoConsistency
import PandoModels
import PandoStore

/// A load from the store whose data stays live afterwards.
///
/// It joins the live trees at the exact commit at which it was read.
protocol StoreLoad: AnyObject, Sendable {
  /// Reads the data; the last of several calls counts. Any thread.
  func read(_ snapshot: ModelSnapshot) throws

  /// The requested identifiers and cache keys, and the identifiers of all nodes found.
  var keys: [ByteString] { get }
  /// True if nothing was found. The load then waits for queued writes, which may insert the data.
  var isMiss: Bool { get }

  /// Registers and shows the loaded data. Pipeline; called once.
  ///
  /// - Parameters:
  ///   - error: The reason why the data could not be read.
  ///   - scope: Updates the registry.
  func finish(_ error: (any Error)?, _ scope: PipelineScope)
}

/// Writes the remaining elements of a list to a custom cache.
typealias CacheLoss = @Sendable (any CacheDelegate) async throws -> Void

/// A live collection, as seen by the store bridge.
protocol StoreTopic: AnyObject, Sendable {
  /// True if the collection is being removed, so that another one may replace it.
  var isRetired: Bool { get }

  /// Makes the write that updates a custom cache after deletions of models have removed elements.
  ///
  /// Returns `nil` if there is nothing to write. Called on the pipeline, right after the removal.
  func makeLoss(context: (any Sendable)?) -> CacheLoss?

  /// Makes the write that removes deleted elements from a list in a custom cache whose stored
  /// elements are not known: the list is still being read, or was never read.
  ///
  /// Returns `nil` if they are known. Called on the pipeline, right after the removal.
  func makeUnreadLoss(of identifiers: [String], context: (any Sendable)?) -> CacheLoss?

  /// Computes the effect of a commit on the list from the models that were passed to its write.
  ///
  /// - Parameters:
  ///   - change: The change of the list.
  ///   - content: The new elements.
  ///   - operation: The operation that the commit carries out; `nil` if it is not one of this
  ///     manager.
  /// - Returns: The topic of the update; `nil` if the list has to be read.
  func commit(
    _ change: CollectionChange, _ content: ListContent?, _ operation: (any ManagedOperation)?
  ) -> (any Sendable)?

  /// Called before the manager's own part of an unreadable commit is shown. Pipeline.
  func beginUnread()

  /// Called after that part was shown. Pipeline.
  ///
  /// - Parameter isChanged: True if the commit has changed the list. The whole list is then read at
  ///   the next chance.
  func endUnread(isChanged: Bool)

  /// Called if nodes can't be decoded in the type of live trees.
  ///
  /// - Returns: True if the list shows one of them, so that the whole list has to be read.
  func loses(_ nodes: Set<ByteString>) -> Bool

  /// Returns true if the list hides an undecodable element that contains one of the nodes.
  func hides(_ nodes: Set<ByteString>) -> Bool

  /// Reads the data that the list needs after several commits.
  ///
  /// - Parameters:
  ///   - changes: The changes of the list in order, one per commit; `nil` if they are unknown, so
  ///     that the whole list has to be read.
  ///   - operations: The operations of this manager among the commits.
  ///   - snapshot: The store after the last commit.
  /// - Returns: The topic of the update.
  /// - Throws: An error of the read. The caller reports it, and the list stays unchanged.
  func read(
    _ changes: [CollectionChange]?, _ operations: [any ManagedOperation],
    in snapshot: ModelSnapshot
  ) throws -> any Sendable
}

extension ModelSnapshot {
  /// Returns a model of a type that is given at run time.
  ///
  /// - Throws: As ``ModelSnapshot/get(_:as:)``; ``DataProviderError`` `notCodable`.
  func live(_ identifier: String, as type: any SimpleModel.Type) throws -> (any SimpleModel)? {
    guard let type = type as? any (SimpleModel & Decodable).Type else {
      throw DataProviderError.notCodable(type)
    }
    return try read(identifier, type)
  }

  private func read<M: SimpleModel & Decodable>(
    _ identifier: String, _ type: M.Type
  ) throws -> (any SimpleModel)? {
    try get(identifier, as: type)
  }
}
