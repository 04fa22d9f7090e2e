import Consistency
import StoreEngine

/// A queued change: what it does to live trees, to the store, and to a custom cache.
///
/// Its place in the order of all changes is fixed when it is performed, in one step with what its own
/// provider shows.
protocol ManagedOperation: LiveOperation {
  /// Travels to everyone who is told.
  var context: (any Sendable)? { get }
  /// What its caller waits for.
  var outcome: PendingWrite { get }

  /// What it does to live trees, as far as the operation knows by itself.
  ///
  /// With a store this is asked inside the transaction, after ``write(_:)``, and completed with what
  /// the commit says.
  func makeUpdate() -> LiveUpdate

  /// Carries it out in the store. Writer thread; may be called again when the flush is run again.
  func write(_ transaction: inout ModelTransaction) throws

  /// Carries it out in a custom cache.
  func write(to cache: any CacheDelegate) async throws

  /// Takes it back from whoever shows it already. Pipeline.
  func fail(_ error: any Error, _ scope: PipelineScope)
}
