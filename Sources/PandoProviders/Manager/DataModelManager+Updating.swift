import PandoSystem
public import PandoModels

/// Changes on nobody's behalf: whoever shows the nodes, shows them changed.
extension DataModelManager {
  /// Sets a model, for everybody who shows it or a part of it.
  ///
  /// - Parameters:
  ///   - model: The model with all it contains.
  ///   - updateCache: Whether it is stored; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func updateModel(
    _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    updateModels([model], updateCache: updateCache, context: context)
  }

  /// Sets several models in one step: nobody sees a part of it.
  ///
  /// - Parameters:
  ///   - models: The models; of two with one identifier and type the later one counts.
  ///   - updateCache: Whether they are stored; else they are shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func updateModels(
    _ models: [any SimpleModel], updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard !models.isEmpty else { return .done }
    for model in models {
      guard let refusal = refusal(of: model) else { continue }
      return refuse(refusal, models.compactMap(\.modelIdentifier), context)
    }
    let operation = UpdateOperation(models, isWritten: updateCache, context: context)
    return perform(operation, updateCache)
  }

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

  /// Deletes a node, whatever types it is shown as.
  ///
  /// An optional child becomes `nil`, an element of a list or map is removed, and a parent that
  /// requires it is deleted too, and so on upward.
  ///
  /// - Parameters:
  ///   - model: A model with the node's identifier. One without is refused with the error
  ///     `missingIdentifier`, and nothing is changed.
  ///   - updateCache: Whether it is deleted from store or cache; else it only vanishes from what is
  ///     shown, until it is set or fetched by its identifier.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func deleteModel(
    _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    deleteModels([model], updateCache: updateCache, context: context)
  }

  /// Deletes several nodes in one step.
  ///
  /// - Parameters:
  ///   - models: Models with the nodes' identifiers; if one has none, nothing is deleted.
  ///   - updateCache: Whether they are deleted from store or cache.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func deleteModels(
    _ models: [any SimpleModel], updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard !models.isEmpty else { return .done }
    let subjects = models.compactMap(\.modelIdentifier)
    if isClosed.withLock({ $0 }) { return refuse(DataProviderError.closed, subjects, context) }
    for model in models where model.modelIdentifier?.isEmpty ?? true {
      let error = DataProviderError(
        .missingIdentifier, String(describing: type(of: model)),
        "has no identifier, so it can't be deleted; nothing was changed")
      return refuse(error, subjects, context)
    }
    let operation = DeleteOperation(
      models, isWritten: updateCache, context: context, manager: self)
    return perform(operation, updateCache)
  }

  private func perform(_ operation: any ManagedOperation, _ updateCache: Bool) -> PendingWrite {
    perform(operation, updatesCache: updateCache)
    return operation.outcome
  }
}
