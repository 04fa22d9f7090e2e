import PandoConsistency
public import PandoModels
import PandoSystem

extension DataProvider {
  /// Loads a model from the store or cache and shows it.
  ///
  /// If the provider is set while the call runs, the answer is older and is ignored. The completion
  /// then gets the newer data. If the provider shows this identifier already, it answers at once.
  ///
  /// - Parameters:
  ///   - cacheKey: The identifier of the model. If it is `nil`, a custom cache is called with the
  ///     context; a store finds nothing. After it has returned a model, the cache is called again,
  ///     so that no change of this model made in between is missed.
  ///   - context: Passed to a custom cache.
  ///   - listensWhenAbsent: True to wait for the identifier as by ``listen(to:)`` if there is no
  ///     such model, or if the store or cache throws.
  ///   - completion: Called exactly once: before this call returns if no load is needed, else on
  ///     the delivery target. It gets the model, which `data` then returns too; `nil` if there is
  ///     none; or the unchanged error of the store or cache.
  public func fetchDataFromCache(
    withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
    listensWhenAbsent: Bool = false,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) {
    let known = fetch(cacheKey, context, listensWhenAbsent) { [holder] result, scope in
      let action = holder.newestAction
      scope.tell {
        switch result {
        case .success(let model):
          // A later set of the provider is newer.
          let isShown = model != nil || holder.newestAction != action
          completion((isShown ? holder.data : nil).flatMap(Self.unbox), nil)
        case .failure(let error): completion(nil, error)
        }
      }
    }
    switch known {
    case nil: break
    case .success(let model)?: completion(model, nil)
    case .failure(let error)?: completion(nil, error)
    }
  }

  /// Loads a model from the store or cache and shows it.
  ///
  /// The `async` form of
  /// ``fetchDataFromCache(withCacheKey:context:listensWhenAbsent:completion:)``. If its task is
  /// cancelled, it throws `CancellationError`; Pando still shows a later answer.
  ///
  /// - Parameters:
  ///   - cacheKey: The identifier of the model. If it is `nil`, a custom cache is called with the
  ///     context; a store finds nothing. After it has returned a model, the cache is called again,
  ///     so that no change of this model made in between is missed.
  ///   - context: Passed to a custom cache.
  ///   - listensWhenAbsent: True to wait for the identifier if there is no such model, or after an
  ///     error.
  /// - Returns: The model; `nil` if there is none.
  /// - Throws: The error of the store or cache.
  /// - Complexity: O(1) if this provider shows the model. Else, over a store, O(log *n*) for each
  ///   node of the model's tree.
  @discardableResult
  public func fetchDataFromCache(
    withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
    listensWhenAbsent: Bool = false
  ) async throws -> T? {
    try await OneAnswer.wait { answer in
      let known = fetch(cacheKey, context, listensWhenAbsent) { result, _ in
        answer(result.map { $0.flatMap(Self.unbox) })
      }
      if let known { answer(known) }
    }
  }

  /// Loads the model of a key from the store or cache and shows it.
  ///
  /// - Parameters:
  ///   - key: The key of the model.
  ///   - context: Passed to a custom cache.
  ///   - listensWhenAbsent: True to wait for the key if there is no such model, or after an error.
  ///   - completion: As in the form with an identifier.
  public func fetchDataFromCache(
    withCacheKey key: Key<T>, context: (any Sendable)? = nil, listensWhenAbsent: Bool = false,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) {
    fetchDataFromCache(
      withCacheKey: key.rawValue, context: context, listensWhenAbsent: listensWhenAbsent,
      completion: completion)
  }

  /// Loads the model of a key from the store or cache and shows it.
  ///
  /// ```swift
  /// let message = try await provider.fetchDataFromCache(withCacheKey: Message.key(34))
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the model.
  ///   - context: Passed to a custom cache.
  ///   - listensWhenAbsent: True to wait for the key if there is no such model, or after an error.
  /// - Returns: The model; `nil` if there is none.
  /// - Throws: As the form with an identifier.
  /// - Complexity: As the form with an identifier.
  @discardableResult
  public func fetchDataFromCache(
    withCacheKey key: Key<T>, context: (any Sendable)? = nil, listensWhenAbsent: Bool = false
  ) async throws -> T? {
    try await fetchDataFromCache(
      withCacheKey: key.rawValue, context: context, listensWhenAbsent: listensWhenAbsent)
  }

  /// Starts a fetch.
  ///
  /// - Returns: The result if no load is needed; `nil` if the answer comes later.
  private func fetch(
    _ identifier: String?, _ context: (any Sendable)?, _ listensWhenAbsent: Bool,
    _ answer: @escaping ModelHolder.Answer
  ) -> Result<T?, any Error>? {
    guard let identifier else {
      guard let context, case .cache(let cache) = dataModelManager.backing else {
        return .success(nil)
      }
      if let refusal = dataModelManager.refusal(ofReading: T.self) { return .failure(refusal) }
      holder.fetch(from: cache, context: context, answer)
      return nil
    }
    if let model = holder.held(identifier) { return .success(Self.unbox(model)) }
    if let refusal = dataModelManager.refusal(ofReading: T.self) { return .failure(refusal) }
    holder.fetch(
      identifier, context: context, listensWhenAbsent: listensWhenAbsent, answer)
    return nil
  }
}
