public import PandoModels
public import PandoStore
import PandoSystem

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

  /// Deletes nodes by their identifiers, in one step.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers; if one is empty, nothing is deleted. Those of absent nodes do no harm.
  ///   - updateCache: Whether they are deleted from store or cache.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func deleteModels(
    withIdentifiers identifiers: [String], updateCache: Bool = true,
    context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard !identifiers.isEmpty else { return .done }
    if isClosed.withLock({ $0 }) { return refuse(DataProviderError.closed, identifiers, context) }
    if identifiers.contains(where: \.isEmpty) {
      let error = DataProviderError(
        .emptyIdentifier, "", "an empty identifier names nothing; nothing was changed")
      return refuse(error, identifiers, context)
    }
    let operation = DeleteOperation(
      identifiers: identifiers, isWritten: updateCache, context: context, manager: self)
    return perform(operation, updateCache)
  }

  /// Deletes a node by its identifier, whatever types it is shown as.
  ///
  /// - Parameters:
  ///   - identifier: The identifier; that of an absent node does no harm.
  ///   - updateCache: Whether it is deleted from store or cache.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored.
  @discardableResult
  public func deleteModel(
    withIdentifier identifier: String, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    deleteModels(withIdentifiers: [identifier], updateCache: updateCache, context: context)
  }

  /// Changes any number of models and lists in one commit; everybody shows them in one step.
  ///
  /// ```swift
  /// try await manager.write { transaction in
  ///   try transaction.moveElement("card:7", fromCollection: "open", toCollection: "done")
  ///   try transaction.update(Card.self, "card:7") { $0.isDone = true }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - context: Travels to everyone who is told.
  ///   - body: As in `ModelStore.write(context:_:)`.
  /// - Returns: What `body` returned, once all that is live shows the commit.
  /// - Throws: What `body` throws, and then nothing is changed; ``DataProviderError`` `noStore` where the
  ///   manager is not over a store; `StoreError`, `LMDBError`.
  /// - Complexity: As the `async` form of `ModelStore.write(context:_:)`.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    guard case .store(let bridge) = backing else {
      throw DataProviderError(
        .noStore, "", "only a manager over a store can change several things in one commit")
    }
    if isClosed.withLock({ $0 }) { throw DataProviderError.closed }
    return try await bridge.store.write(context: context, body)
  }

  private func perform(_ operation: any ManagedOperation, _ updateCache: Bool) -> PendingWrite {
    perform(operation, updatesCache: updateCache)
    return operation.outcome
  }
}
