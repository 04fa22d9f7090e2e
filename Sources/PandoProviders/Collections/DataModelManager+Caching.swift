import Dispatch
import PandoConsistency
public import PandoModels
import PandoStore
import PandoSystem

/// Reads and writes of the store or cache itself, without a provider.
///
/// The effect of a write depends on the backing of the manager:
///
/// - A custom cache receives the data; providers of the model or collection do not change. Use
///   ``updateModel(_:updateCache:context:)`` to change them too.
/// - With a store, the write is also visible in all live data.
/// - A manager without store and cache keeps the data in memory, and shows them in all live data.
///
/// A read sees the writes that were queued before it: with a cache those of its key, with a store
/// all. Any thread may make these calls.
extension DataModelManager {
  /// Writes a model to the store or cache.
  ///
  /// ```swift
  /// manager.cacheModel(message, forKey: "Message:34", context: "prefetched")
  /// ```
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier. A custom cache receives any key.
  ///     Otherwise another key is refused with the error `wrongKey`.
  ///   - context: Passed to a custom cache; with a store, to the delegates and listeners of the
  ///     change.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of the store
  ///   or cache.
  @discardableResult
  public func cacheModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)? = nil
  ) -> PendingWrite {
    if let refusal = refusal(of: model) { return refuse(refusal, [cacheKey], context) }
    switch backing {
    case .cache:
      return handOver(cacheKey, context) {
        try await $0.setModel(model, forKey: cacheKey, context: context)
      }
    case .store, .memory:
      guard model.modelIdentifier?.hasSameBytes(as: cacheKey) == true else {
        return refuse(DataProviderError.wrongKey(cacheKey, model), [cacheKey], context)
      }
      return updateModel(model, context: context)
    }
  }

  /// Writes a collection to the store or cache.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: Passed to a custom cache; with a store, to the delegates and listeners of the
  ///     change.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of the store
  ///   or cache. With a store it is refused if the collection has another element type.
  @discardableResult
  public func cacheCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)? = nil
  ) -> PendingWrite {
    if let refusal = refusal(ofReading: T.self) ?? models.lazy.compactMap(refusal).first {
      return refuse(refusal, [cacheKey], context)
    }
    switch backing {
    case .cache:
      return handOver(cacheKey, context) {
        try await $0.setCollection(models, forKey: cacheKey, context: context)
      }
    case .store, .memory:
      return CollectionDataProvider.setData(
        models, cacheKey: cacheKey, dataModelManager: self, context: context)
    }
  }

  /// Reads a model from the store or cache, without observing it.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier. If it is `nil`, a custom cache is
  ///     called with the context; a store finds nothing.
  ///   - context: Passed to a custom cache.
  ///   - completion: Called once on the delivery target; never if a custom cache never answers. It
  ///     gets the model, `nil` if there is none, or the unchanged error of the store or cache.
  /// - Complexity: Over a store O(log *n*) for each node of the model's tree.
  public func modelFromCache<T: SimpleModel>(
    _ cacheKey: String?, context: (any Sendable)? = nil,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) {
    findModel(cacheKey, context) { [deliverer = consistencyManager.deliverer] result in
      deliverer.enqueue { Self.complete(completion, result) }
    }
  }

  /// Reads a model from the store or cache, without observing it.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier. If it is `nil`, a custom cache is
  ///     called with the context; a store finds nothing.
  ///   - type: The type in which the model is read.
  ///   - context: Passed to a custom cache.
  /// - Returns: The model; `nil` if there is none.
  /// - Throws: The error of the store or cache; `CancellationError` if the task is cancelled.
  /// - Complexity: Over a store O(log *n*) for each node of the model's tree.
  public func modelFromCache<T: SimpleModel>(
    _ cacheKey: String?, as type: T.Type = T.self, context: (any Sendable)? = nil
  ) async throws -> T? {
    try await OneAnswer.wait { findModel(cacheKey, context, $0) }
  }

  /// Reads a collection from the store or cache, without observing it.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. If it is `nil`, a custom cache is called with the
  ///     context; a store finds nothing.
  ///   - context: Passed to a custom cache.
  ///   - completion: Called once on the delivery target; never if a custom cache never answers. It
  ///     gets the elements, `nil` if the collection does not exist, or the unchanged error of the
  ///     store or cache.
  /// - Complexity: Over a store O(log *n* + *k*) to find *k* elements, and the read of each.
  public func collectionFromCache<T: SimpleModel>(
    _ cacheKey: String?, context: (any Sendable)? = nil,
    completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
  ) {
    findCollection(cacheKey, context) { [deliverer = consistencyManager.deliverer] result in
      deliverer.enqueue { Self.complete(completion, result) }
    }
  }

  /// Reads a collection from the store or cache, without observing it.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. If it is `nil`, a custom cache is called with the
  ///     context; a store finds nothing.
  ///   - type: The type of the elements.
  ///   - context: Passed to a custom cache.
  /// - Returns: The elements; `nil` if the collection does not exist.
  /// - Throws: The error of the store or cache; `CancellationError` if the task is cancelled.
  /// - Complexity: Over a store O(log *n* + *k*) to find *k* elements, and the read of each.
  public func collectionFromCache<T: SimpleModel>(
    _ cacheKey: String?, as type: T.Type = T.self, context: (any Sendable)? = nil
  ) async throws -> [T]? {
    try await OneAnswer.wait { findCollection(cacheKey, context, $0) }
  }
}

extension DataModelManager {
  private typealias Found<Value> = @Sendable (Result<Value?, any Error>) -> Void

  private static func complete<Value>(
    _ completion: (Value?, (any Error)?) -> Void, _ result: Result<Value?, any Error>
  ) {
    switch result {
    case .success(let value): completion(value, nil)
    case .failure(let error): completion(nil, error)
    }
  }

  /// Queues a write of a custom cache that changes no live data.
  private func handOver(
    _ cacheKey: String, _ context: (any Sendable)?,
    _ write: @escaping @Sendable (any CacheDelegate) async throws -> Void
  ) -> PendingWrite {
    let operation = CacheOperation(cacheKey, context: context, write)
    perform(operation, updatesCache: true)
    return operation.outcome
  }

  private func findModel<T: SimpleModel>(
    _ cacheKey: String?, _ context: (any Sendable)?, _ answer: @escaping Found<T>
  ) {
    if let refusal = refusal(ofReading: T.self) { return answer(.failure(refusal)) }
    switch backing {
    case .memory:
      consistencyManager.enqueue { scope in
        answer(.success(cacheKey.flatMap { scope.liveModel($0, as: T.self) as? T }))
      }
    case .cache(let cache):
      cache.read(
        cacheKey, { try await $0.model(orContext: cacheKey, as: T.self, context) },
        completion: answer)
    case .store(let bridge):
      guard let cacheKey else { return answer(.success(nil)) }
      read(bridge, { try $0.live(cacheKey, as: T.self) as? T }, answer)
    }
  }

  private func findCollection<T: SimpleModel>(
    _ cacheKey: String?, _ context: (any Sendable)?, _ answer: @escaping Found<[T]>
  ) {
    if let refusal = refusal(ofReading: T.self) { return answer(.failure(refusal)) }
    switch backing {
    case .memory(let shelf):
      consistencyManager.enqueue { [self] _ in
        answer(
          Result {
            guard let cacheKey else { return nil }
            if let living = try livingCollection(forKey: cacheKey, of: T.self), living.isCommitted {
              return living.committedModels
            }
            return try shelf.list(cacheKey).map { try T.elements($0, of: cacheKey) }
          })
      }
    case .cache(let cache):
      cache.read(
        cacheKey, { try await $0.collection(orContext: cacheKey, as: T.self, context) },
        completion: answer)
    case .store(let bridge):
      guard let cacheKey else { return answer(.success(nil)) }
      read(bridge, { try $0.elements(cacheKey, as: T.self) }, answer)
    }
  }

  private func read<Value: Sendable>(
    _ bridge: StoreBridge, _ body: @escaping @Sendable (ModelSnapshot) throws -> Value?,
    _ answer: @escaping Found<Value>
  ) {
    perform(ReadOperation(bridge, body, answer), updatesCache: false)
  }
}

extension DataProviderError {
  static func wrongKey(_ cacheKey: String, _ model: some SimpleModel) -> DataProviderError {
    let identifier = model.modelIdentifier.map { "\"\($0)\"" } ?? "no identifier"
    return DataProviderError(
      .wrongKey, cacheKey,
      "a store keeps a \(type(of: model)) under its identifier; this one has \(identifier); "
        + "nothing was changed")
  }
}
