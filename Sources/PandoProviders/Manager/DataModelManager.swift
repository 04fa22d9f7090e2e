public import PandoConsistency
import PandoModels
public import PandoStore
import PandoSystem

/// The object that the providers of a service share: it keeps them consistent and has their store
/// or cache.
///
/// ```swift
/// let manager = try DataModelManager(store: store)
/// let provider = DataProvider<Message>(dataModelManager: manager)
/// try await provider.fetchDataFromCache(withCacheKey: "Message:34")
/// try await manager.updateModel(Person(id: 7, name: "Ada")).committed()  // its author is Ada
/// ```
///
/// - With a store, the manager stores each change. It shows every commit, also those of other
///   writers.
/// - With a custom cache, live data are in memory, and the manager passes changes to the cache.
/// - Without both, the data are in memory until the manager is released.
///
/// Use a `ModelStore` without a manager if the program needs no live data.
///
/// - Note: Any thread may use it.
public final class DataModelManager: Sendable {
  /// The place where the data are kept.
  enum Backing: Sendable {
    case store(StoreBridge)
    case cache(CacheAccess)
    case memory(MemoryShelf)
  }

  /// The chain of changes whose models must be loaded from a custom cache first.
  struct FetchedChanges {
    var last: Task<Void, Never>?
    var count = 0
  }

  private struct Listener {
    weak var delegate: (any DataModelManagerDelegate)?
  }

  /// The manager that keeps all live trees consistent.
  public let consistencyManager: ConsistencyManager
  /// The limits of queued callbacks.
  public let limits: Limits
  let backing: Backing
  let topics = StoreTopics()
  package let observed = ObservedHolders()
  let reporter = ManagerReporter()
  private let listener = Locked(Listener())
  let isClosed = Locked(false)
  /// The bridges to further stores.
  private let others = Locked<[StoreBridge]>([])
  let fetchedChanges = Locked(FetchedChanges())

  /// Creates a manager that keeps its data in memory, until it is released.
  ///
  /// Committed models can be fetched by their identifiers, lists by their keys. Models and lists
  /// stay until they are deleted, with or without a provider. A node inside them can be fetched
  /// while a model or list contains it. A change with `updateCache: false` adds nothing to memory,
  /// but changes what is there.
  ///
  /// - Parameters:
  ///   - target: The target on which delegates are called.
  ///   - limits: The limits of queued callbacks.
  public init(deliveringOn target: DeliveryTarget = .ownQueue, limits: Limits = Limits()) {
    consistencyManager = ConsistencyManager(
      deliveringOn: target, backlogLimit: limits.undeliveredCallbacksMaximum)
    self.limits = limits
    backing = .memory(MemoryShelf(consistencyManager))
    connect()
  }

  /// Creates a manager with a store.
  ///
  /// - Parameters:
  ///   - store: An open store; several managers may share one. Its owner must close it after
  ///     ``close()``.
  ///   - target: The target on which delegates are called.
  ///   - limits: The limits of queued callbacks.
  /// - Throws: `StoreError` if the store can't be read.
  /// - Complexity: O(*m*) for *m* managers of the store, and two short reads for the first one.
  public init(
    store: ModelStore, deliveringOn target: DeliveryTarget = .ownQueue, limits: Limits = Limits()
  ) throws {
    let line = try StorePipeline.pipeline(of: store)
    consistencyManager = ConsistencyManager(
      deliveringOn: target, backlogLimit: limits.undeliveredCallbacksMaximum, on: line.pipeline)
    self.limits = limits
    backing = .store(StoreBridge(line, consistencyManager, topics, observed, reporter))
    connect()
  }

  /// Creates a manager with a custom cache.
  ///
  /// - Parameters:
  ///   - cacheDelegate: The cache; retained.
  ///   - target: The target on which delegates are called.
  ///   - limits: The limits of queued callbacks.
  public init(
    cacheDelegate: any CacheDelegate, deliveringOn target: DeliveryTarget = .ownQueue,
    limits: Limits = Limits()
  ) {
    consistencyManager = ConsistencyManager(
      deliveringOn: target, backlogLimit: limits.undeliveredCallbacksMaximum)
    self.limits = limits
    backing = .cache(CacheAccess(cacheDelegate))
    connect()
  }

  /// Shows the commits of a further store too, in one step with all that follows that store.
  ///
  /// The manager writes nothing to it.
  ///
  /// *Precondition:* The manager has a store, and nothing follows the further one yet.
  ///
  /// - Throws: `StoreError` if the store can't be read.
  package func follow(_ store: ModelStore) throws {
    guard case .store(let bridge) = backing else {
      preconditionFailure("a manager without a store follows no other")
    }
    let line = try StorePipeline.pipeline(of: store, on: consistencyManager.pipeline)
    precondition(line.pipeline === consistencyManager.pipeline, "the store is followed already")
    let other = StoreBridge(
      line, consistencyManager, StoreTopics(), observed, reporter, besides: bridge)
    others.withLock { $0.append(other) }
  }

  private func connect() {
    reporter.connect { [weak self] event in
      guard let self, let delegate else { return }
      delegate.dataModelManager(self, hasEvent: event)
    }
    consistencyManager.setMistakeHandler { [reporter] in reporter.report(.mistake($0)) }
  }

  /// The delegate that receives failures and other events; not retained.
  public var delegate: (any DataModelManagerDelegate)? {
    get { listener.withLock { $0.delegate } }
    set { listener.withLock { $0.delegate = newValue } }
  }

  /// Queues a change; its position in the order of all changes is fixed when this returns.
  ///
  /// Called under the lock of the provider that shows the change already.
  ///
  /// - Parameters:
  ///   - operation: The change.
  ///   - updatesCache: True if the change is written to the store or cache.
  func perform(_ operation: any ManagedOperation, updatesCache: Bool) {
    // Done in one step, so that live trees and a cache receive changes in the same order. All
    // changes that `close()` does not refuse precede it.
    let isRefused = isClosed.withLock { isClosed in
      guard !isClosed else { return true }
      switch backing {
      case .store(let bridge): bridge.perform(operation, writes: updatesCache)
      case .cache(let cache): performInMemory(operation, cache: updatesCache ? cache : nil)
      case .memory(let shelf): performInMemory(operation, shelf: updatesCache ? shelf : nil)
      }
      return false
    }
    guard isRefused else { return }
    operation.outcome.finish(.failure(DataProviderError.closed))
    consistencyManager.enqueue { operation.fail(DataProviderError.closed, $0) }
    reportRefusal(DataProviderError.closed, operation.subjects, operation.context)
  }

  private func performInMemory(
    _ operation: any ManagedOperation, cache: CacheAccess? = nil, shelf: MemoryShelf? = nil
  ) {
    cache?.announce(operation)
    consistencyManager.enqueue { [reporter] scope in
      let obstacle = operation.obstacle ?? shelf.flatMap { operation.obstacle(on: $0) }
      if let obstacle { operation.end(obstacle, reporter, scope) }
      let isDone = obstacle == nil && scope.carryOut(operation)
      if isDone, let shelf { operation.write(to: shelf, scope) }
      if let cache {
        cache.write(isDone ? operation : nil, reporter, scope)
      } else if isDone {
        operation.outcome.finish(.success(nil))
      }
    }
  }
}

extension DataModelManager {
  /// Returns the error that prevents setting a model; `nil` if it can be set.
  func refusal(of model: some SimpleModel) -> (any Error)? {
    if isClosed.withLock({ $0 }) { return DataProviderError.closed }
    if let identifier = model.modelIdentifier, identifier.isEmpty {
      return DataProviderError.emptyIdentifier(type(of: model))
    }
    guard case .store = backing, !(model is any Codable) else { return nil }
    return DataProviderError.notCodable(type(of: model))
  }

  /// Returns the error that prevents fetching models of a type; `nil` if they can be fetched.
  func refusal(ofReading type: any SimpleModel.Type) -> (any Error)? {
    if isClosed.withLock({ $0 }) { return DataProviderError.closed }
    guard case .store = backing, !(type is any Codable.Type) else { return nil }
    return DataProviderError.notCodable(type)
  }

  /// Refuses a change, and reports it to the delegate.
  func refuse(
    _ error: any Error, _ subjects: [String], _ context: (any Sendable)?
  ) -> PendingWrite {
    reportRefusal(error, subjects, context)
    return PendingWrite(refused: error)
  }

  private func reportRefusal(
    _ error: any Error, _ subjects: [String], _ context: (any Sendable)?
  ) {
    reporter.report(.refusedChange(error, of: subjects, context: context))
  }

  /// Reports a provider with too many queued callbacks to the delegate.
  func reportLimit(_ type: any SimpleModel.Type) {
    reporter.report(
      .tooManyCallbacks(
        limit: limits.undeliveredCallbacksMaximum, modelType: String(describing: type)))
  }
}
