import PandoConsistency
import PandoModels
import PandoSystem

extension CollectionDataProvider {
  /// Shows the collection of a cache key, from whoever shows it already or from the store or cache.
  ///
  /// A provider that shows nothing yet belongs to the key at once, and stays with it when there is no
  /// such collection: it hears when one is made. Any other goes over to the key once there is a
  /// collection. If the provider is set or given another key before the answer comes, the answer is
  /// ignored here. An element of a store that can't be decoded is left out and reported
  /// (``DataModelEvent`` `failedRead`) until it can be; it is an error if none can.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. Without it a custom cache is asked what the context leads
  ///     to, and the provider shows that under no key; a store finds nothing.
  ///   - context: Given to a custom cache.
  ///   - completion: Called once where delegates are called, when ``data`` is set: with the elements as they are shown then,
  ///     with `nil` if there is no such collection, or with an error. The error of the store or cache
  ///     is as it was thrown.
  public func fetchDataFromCache(
    withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
    completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
  ) {
    fetch(cacheKey, context) { result in
      switch result {
      case .success(let models): completion(models, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  /// Shows the collection of a cache key, from whoever shows it already or from the store or cache.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. Without it a custom cache is asked what the context leads
  ///     to, and the provider shows that under no key; a store finds nothing.
  ///   - context: Given to a custom cache.
  /// - Returns: The elements; `nil` if there is no such collection.
  /// - Throws: What the store or the cache throws; ``DataProviderError`` `typeCollision` if the key's
  ///   elements have another type; `CancellationError` when its task is cancelled.
  /// - Complexity: O(1) where somebody shows the collection. Else, over a store, O(log *n* + *k*) to find *k* elements,
  ///   and the reading of each.
  @discardableResult
  public func fetchDataFromCache(
    withCacheKey cacheKey: String?, context: (any Sendable)? = nil
  ) async throws -> [T]? {
    try await OneAnswer.wait { fetch(cacheKey, context, $0) }
  }

  private func fetch(
    _ cacheKey: String?, _ context: (any Sendable)?,
    _ completion: @escaping @Sendable (Result<[T]?, any Error>) -> Void
  ) {
    let begun = state.withLock { $0?.actionCount ?? 0 } + 1
    let completion: @Sendable (Result<[T]?, any Error>) -> Void = { [weak self] result in
      self?.dataHasChanged()
      completion(result.map { self?.newest($0, of: cacheKey, since: begun) ?? $0 })
    }
    do {
      if let refusal = dataModelManager.refusal(ofReading: T.self) { throw refusal }
      if cacheKey == nil, context == nil || !dataModelManager.isCached {
        return dataModelManager.consistencyManager.deliverer.enqueue { completion(.success(nil)) }
      }
      let action = beginAction()
      while true {
        let target = try dataModelManager.collection(forKey: cacheKey, of: T.self)
        if target === seat.collection || target.isPresent || showsNothing {
          guard join(target) else { continue }
          let waiter = ListWaiter(
            settle: { [weak self] _ in self?.restart(target) }, answer: completion)
          if target.fetch(context: context, waiter) { return }
        } else {
          let waiter = ListWaiter(
            settle: { [weak self] in
              guard $0, let self, isCurrent(action) else { return }
              _ = join(target)
            }, answer: completion)
          if target.fetch(context: context, waiter) { return }
        }
      }
    } catch {
      dataModelManager.consistencyManager.deliverer.enqueue { completion(.failure(error)) }
    }
  }

  /// What is shown at this moment, in the place of the answer to a fetch: what has been set since is newer.
  private func newest(_ models: [T]?, of cacheKey: String?, since action: UInt64) -> [T]? {
    let isShown = cacheKey != nil && Self.isSame(seat.collection.cacheKey, cacheKey)
    if isShown, seat.collection.isPresent { return data }
    return state.withLock { ($0?.actionCount ?? 0) > action } ? data : models
  }

  /// Begins to show a collection, if the provider does not yet.
  ///
  /// - Returns: `false` if the collection is being forgotten.
  private func join(_ target: LiveCollection<T>) -> Bool {
    if target === seat.collection { return true }
    guard let member = target.join(self, paused: pauseReasons) else { return false }
    move(to: target, member)
    return true
  }

  /// Shows what was fetched, also while the provider is paused.
  private func restart(_ target: LiveCollection<T>) {
    let seat = seat
    if seat.collection === target { target.restart(seat.member) }
  }

  /// Whether the provider belongs to no cache key and has never had elements.
  private var showsNothing: Bool {
    let collection = seat.collection
    return collection.cacheKey == nil && !collection.isPresent
  }
}
