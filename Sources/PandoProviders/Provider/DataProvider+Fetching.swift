import PandoConsistency
import PandoSystem

extension DataProvider {
  /// Asks the store or cache for a model and shows it.
  ///
  /// What was set since the call began is newer than the answer: then the answer is ignored and the
  /// completion gets the newer data. A provider that shows this identifier already answers at once,
  /// without asking.
  ///
  /// - Parameters:
  ///   - cacheKey: The identifier of the model. Without it a custom cache is asked what the context
  ///     leads to, and once more when the identifier is known, so that a change that comes in between
  ///     is not missed; a store finds nothing.
  ///   - context: Given to a custom cache.
  ///   - listensWhenAbsent: Whether the provider goes on to wait for the identifier when there is no
  ///     such model, or when the store or cache throws, as by ``listen(to:)``.
  ///   - completion: Called exactly once: before this returns when there is nothing to ask, else on
  ///     the delivery target. Gets the model, which `data` then gives too; `nil` at a miss; the error
  ///     of the store or cache as it was thrown.
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
          // What has been set since is newer.
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

  /// Asks the store or cache for a model and shows it.
  ///
  /// The `async` form of
  /// ``fetchDataFromCache(withCacheKey:context:listensWhenAbsent:completion:)``. When its task is
  /// cancelled it throws `CancellationError`; an answer that comes later is still shown.
  ///
  /// - Parameters:
  ///   - cacheKey: The identifier of the model. Without it a custom cache is asked what the context
  ///     leads to, and once more when the identifier is known, so that a change that comes in between
  ///     is not missed; a store finds nothing.
  ///   - context: Given to a custom cache.
  ///   - listensWhenAbsent: Whether the provider goes on to wait for the identifier at a miss or an
  ///     error.
  /// - Returns: The model, or `nil` at a miss.
  /// - Throws: What the store or cache throws.
  /// - Complexity: O(1) where this provider shows the model. Else, over a store, O(log *n*) for each node of the
  ///   model's tree.
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

  /// Asks for a model.
  ///
  /// - Returns: What is known without asking; `nil` if the answer comes.
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
