public import PandoConsistency
import PandoModels
public import PandoStore
import PandoSystem

/// The one object that the providers of a service share: what keeps them consistent, and where their
/// data lives.
///
/// ```swift
/// let manager = try DataModelManager(store: store)
/// let provider = DataProvider<Message>(dataModelManager: manager)
/// try await provider.fetchDataFromCache(withCacheKey: "Message:34")
/// try await manager.updateModel(Person(id: 7, name: "Ada")).committed()  // its author is Ada
/// ```
///
/// With a store, what is set is stored, and what is committed is shown, whoever wrote it. With a
/// custom cache, data lives in memory and is handed to the cache. With neither, it lives in
/// memory as long as the manager.
///
/// - Note: Any thread may use it.
public final class DataModelManager: Sendable {
  /// Where the data lives.
  enum Backing: Sendable {
    case store(StoreBridge)
    case cache(CacheAccess)
    case memory(MemoryShelf)
  }

  /// Changes of what a custom cache has to be asked for first, one after another.
  struct FetchedChanges {
    var last: Task<Void, Never>?
    var count = 0
  }

  private struct Listener {
    weak var delegate: (any DataModelManagerDelegate)?
  }

  /// Keeps all live trees consistent.
  public let consistencyManager: ConsistencyManager
  /// How far things may pile up.
  public let limits: Limits
  let backing: Backing
  let topics = StoreTopics()
  package let observed = ObservedHolders()
  let reporter = ManagerReporter()
  private let listener = Locked(Listener())
  let isClosed = Locked(false)
  let fetchedChanges = Locked(FetchedChanges())

  /// Makes a manager whose data lives in memory only, as long as the manager.
  ///
  /// Committed models can be fetched by their identifiers, lists by their keys, and nodes inside them as long as
  /// something holds them. No provider has to show them; they stay until they are deleted. A change with
  /// `updateCache: false` adds nothing to memory, and changes what is there.
  ///
  /// - Parameters:
  ///   - target: Where delegates are called.
  ///   - limits: How far things may pile up.
  public init(deliveringOn target: DeliveryTarget = .ownQueue, limits: Limits = Limits()) {
    consistencyManager = ConsistencyManager(
      deliveringOn: target, backlogLimit: limits.undeliveredCallbacksMaximum)
    self.limits = limits
    backing = .memory(MemoryShelf(consistencyManager))
    connect()
  }

  /// Makes a manager whose data lives in a store.
  ///
  /// - Parameters:
  ///   - store: An open store; several managers may share one. It has to be closed by its owner, after
  ///     ``close()``.
  ///   - target: Where delegates are called.
  ///   - limits: How far things may pile up.
  /// - Throws: `StoreError` when the store can't be read.
  /// - Complexity: O(*m*) for *m* managers over the store, and two short reads for the first one.
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

  /// Makes a manager whose data lives in a cache of the service's own.
  ///
  /// - Parameters:
  ///   - cacheDelegate: The cache; kept alive.
  ///   - target: Where delegates are called.
  ///   - limits: How far things may pile up.
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

  private func connect() {
    reporter.connect { [weak self] event in
      guard let self, let delegate else { return }
      delegate.dataModelManager(self, hasEvent: event)
    }
    consistencyManager.setMistakeHandler { [reporter] in reporter.report(.mistake($0)) }
  }

  /// Who hears of what goes wrong; not retained.
  public var delegate: (any DataModelManagerDelegate)? {
    get { listener.withLock { $0.delegate } }
    set { listener.withLock { $0.delegate = newValue } }
  }

  /// Queues a change; its place in the order of all changes is fixed when this returns.
  ///
  /// Called under the lock of the provider that shows it already.
  ///
  /// - Parameters:
  ///   - operation: The change.
  ///   - updatesCache: Whether it reaches the store or the cache.
  func perform(_ operation: any ManagedOperation, updatesCache: Bool) {
    // In one step, so that live trees and a cache get changes in the same order, and `close()` is
    // behind all changes that it does not refuse.
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
      let isDone = obstacle == nil && scope.carryOut(operation)
      if isDone, let shelf { operation.write(to: shelf, scope) }
      if let obstacle {
        operation.fail(obstacle, scope)
        reporter.report(
          .failedWrite(obstacle, of: operation.subjects, context: operation.context))
        operation.outcome.finish(.failure(obstacle))
      }
      if let cache {
        cache.write(isDone ? operation : nil, reporter, scope)
      } else {
        operation.outcome.finish(.success(nil))
      }
    }
  }
}

extension DataModelManager {
  /// What was read from the store, as it is live where that was set in memory.
  ///
  /// On the pipeline.
  func joined(_ models: [any SimpleModel], _ scope: PipelineScope) -> [(any SimpleModel)?] {
    guard case .store(let bridge) = backing, bridge.differsInMemory else { return models }
    return scope.joinStored(models)
  }

  /// Why a model can't be set; `nil` if it can.
  func refusal(of model: some SimpleModel) -> (any Error)? {
    if isClosed.withLock({ $0 }) { return DataProviderError.closed }
    if let identifier = model.modelIdentifier, identifier.isEmpty {
      return DataProviderError.emptyIdentifier(type(of: model))
    }
    guard case .store = backing, !(model is any Codable) else { return nil }
    return DataProviderError.notCodable(type(of: model))
  }

  /// Why models of a type can't be fetched; `nil` if they can.
  func refusal(ofReading type: any SimpleModel.Type) -> (any Error)? {
    if isClosed.withLock({ $0 }) { return DataProviderError.closed }
    guard case .store = backing, !(type is any Codable.Type) else { return nil }
    return DataProviderError.notCodable(type)
  }

  /// Refuses a change, and tells the delegate.
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

  /// Tells the delegate that a provider has too many undelivered callbacks.
  func reportLimit(_ type: any SimpleModel.Type) {
    reporter.report(
      .tooManyCallbacks(
        limit: limits.undeliveredCallbacksMaximum, modelType: String(describing: type)))
  }
}
