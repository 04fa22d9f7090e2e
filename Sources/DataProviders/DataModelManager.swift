public import Consistency
public import StoreEngine

/// The one object that the providers of a service share: what keeps them consistent, and where their
/// data lives.
public final class DataModelManager: Sendable {
  /// Where the data lives.
  enum Backing: Sendable {
    case store(StoreBridge)
    case cache(any CacheDelegate)
    case memory
  }

  /// Keeps all live trees consistent.
  public let consistencyManager: ConsistencyManager
  let backing: Backing

  /// Makes a manager whose data lives in memory only.
  ///
  /// - Parameter target: Where delegates are called.
  public init(deliveringOn target: DeliveryTarget = .ownQueue) {
    consistencyManager = ConsistencyManager(deliveringOn: target)
    backing = .memory
  }

  /// Makes a manager whose data lives in a store.
  ///
  /// - Parameters:
  ///   - store: An open store; several managers may share one.
  ///   - target: Where delegates are called.
  /// - Throws: `StoreError` when the store can't be read.
  public init(store: ModelStore, deliveringOn target: DeliveryTarget = .ownQueue) throws {
    consistencyManager = ConsistencyManager(deliveringOn: target)
    backing = .store(try StoreBridge(store, consistencyManager))
  }

  /// Queues a change; its place in the order of all changes is fixed when this returns.
  ///
  /// Called under the lock of the provider that shows it already.
  ///
  /// - Parameters:
  ///   - operation: The change.
  ///   - updatesCache: Whether it reaches the store or the cache.
  func perform(_ operation: any ManagedOperation, updatesCache: Bool) {
    switch backing {
    case .store(let bridge): bridge.perform(operation, writes: updatesCache)
    case .cache, .memory:
      var update = operation.makeUpdate()
      update.operation = operation
      consistencyManager.enqueue(update)
      operation.outcome.finish(.success(nil))
    }
  }
}
