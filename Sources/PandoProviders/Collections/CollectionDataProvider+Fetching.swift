import PandoConsistency
import PandoModels
import PandoSystem

extension CollectionDataProvider {
  /// Shows the collection of a cache key, from live data, the store or the cache.
  ///
  /// - A provider without data has the key at once. If the collection does not exist, the provider
  ///   shows it when it is created. Any other provider changes to the key only if the collection
  ///   exists.
  /// - If the provider is set or fetches another key before the answer comes, it ignores the
  ///   answer.
  /// - An element of a store that can't be decoded is hidden and reported (``DataModelEvent``
  ///   `failedRead`) until it can be decoded. The fetch fails if no element can be decoded.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. If it is `nil`, a custom cache is called with the
  ///     context, and the provider shows the result under no key; a store finds nothing.
  ///   - context: Passed to a custom cache.
  ///   - completion: Called once on the delivery target, when ``data`` is set. It gets the elements
  ///     that are shown then, `nil` if the collection does not exist, or the unchanged error of the
  ///     store or cache.
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

  /// Shows the collection of a cache key, from live data, the store or the cache.
  ///
  /// The `async` form of ``fetchDataFromCache(withCacheKey:context:completion:)``.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection. If it is `nil`, a custom cache is called with the
  ///     context, and the provider shows the result under no key; a store finds nothing.
  ///   - context: Passed to a custom cache.
  /// - Returns: The elements; `nil` if the collection does not exist.
  /// - Throws: The error of the store or cache; ``DataProviderError`` `typeCollision` if the
  ///   collection has another element type; `CancellationError` if the task is cancelled.
  /// - Complexity: O(1) if a provider shows the collection. Else, over a store, O(log *n* + *k*) to
  ///   find *k* elements, and the read of each.
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

  /// Returns the shown elements if they belong to the key, or were set after the fetch; else the
  /// answer.
  private func newest(_ models: [T]?, of cacheKey: String?, since action: UInt64) -> [T]? {
    let isShown = cacheKey != nil && Self.isSame(seat.collection.cacheKey, cacheKey)
    if isShown, seat.collection.isPresent { return data }
    return state.withLock { ($0?.actionCount ?? 0) > action } ? data : models
  }

  /// Joins a collection, if the provider does not belong to it.
  ///
  /// - Returns: `false` if the collection is being removed.
  private func join(_ target: LiveCollection<T>) -> Bool {
    if target === seat.collection { return true }
    guard let member = target.join(self, paused: pauseReasons) else { return false }
    move(to: target, member)
    return true
  }

  /// Shows the fetched elements, also during a pause.
  private func restart(_ target: LiveCollection<T>) {
    let seat = seat
    if seat.collection === target { target.restart(seat.member) }
  }

  /// True if the provider has no cache key and never had elements.
  private var showsNothing: Bool {
    let collection = seat.collection
    return collection.cacheKey == nil && !collection.isPresent
  }
}
