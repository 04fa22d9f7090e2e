public import PandoModels

extension DataModelManager {
  /// Changes a model as it is when its turn comes: nothing is lost that others have changed meanwhile, in it
  /// or in what it contains.
  ///
  /// ```swift
  /// manager.update(Message.self, "Message:34") { $0.likeCount += 1 }
  /// ```
  /// It shows once it is committed (without a store, soon). Where there is no such model nothing happens.
  ///
  /// - Parameters:
  ///   - type: The type to read it as.
  ///   - identifier: Its identifier.
  ///   - context: Travels to everyone who is told.
  ///   - change: Changes the value; its identifier stays. It may run more than once, so it must change
  ///     nothing else.
  /// - Returns: The write on its way; it can be ignored. It fails with what `change` throws.
  @discardableResult
  public func update<M: SimpleModel>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    if let refusal = refusal(ofReading: type) { return refuse(refusal, [identifier], context) }
    guard case .cache = backing else {
      return updateLive(identifier, context: context, change)
    }
    let outcome = PendingWrite()
    Task {
      // The cache knows what nobody shows.
      let provider = DataProvider<M>(dataModelManager: self)
      do {
        try await provider.fetchDataFromCache(withCacheKey: identifier)
        updateLive(identifier, outcome: outcome, context: context, change)
      } catch {
        outcome.finish(.failure(error))
      }
      _ = try? await outcome.committed()
      withExtendedLifetime(provider) {}
    }
    return outcome
  }

  /// Changes a model that somebody shows, or that is stored.
  @discardableResult
  func updateLive<M: SimpleModel>(
    _ identifier: String, outcome: PendingWrite = PendingWrite(), context: (any Sendable)?,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    perform(
      ChangeOperation(identifier, self, outcome: outcome, context: context, change),
      updatesCache: true)
    return outcome
  }
}
