public import PandoModels
public import PandoStore
import PandoSystem

/// Changes without a provider. All providers that show the nodes show the change.
extension DataModelManager {
  /// Sets a model in all live data that contain a part of it.
  ///
  /// - Parameters:
  ///   - model: The model with all its children.
  ///   - updateCache: True to store the change; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
  @discardableResult
  public func updateModel(
    _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    updateModels([model], updateCache: updateCache, context: context)
  }

  /// Sets several models in one step; no reader sees a part of it.
  ///
  /// - Parameters:
  ///   - models: The models. Of two with one identifier and type, the later one is used.
  ///   - updateCache: True to store the change; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
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

  /// Deletes a node in all its types.
  ///
  /// An optional child becomes `nil`. An element of a list or map is removed. A parent that
  /// requires the child is deleted too, and so are the parents that require that one.
  ///
  /// - Parameters:
  ///   - model: A model with the node's identifier. A model without one is refused with the error
  ///     `missingIdentifier`, and nothing is changed.
  ///   - updateCache: True to delete from store or cache. False removes the node from shown data
  ///     only, until it is set, or fetched by its identifier. A list that showed it shows it again
  ///     after the list is set.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
  @discardableResult
  public func deleteModel(
    _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    deleteModels([model], updateCache: updateCache, context: context)
  }

  /// Deletes several nodes in one step.
  ///
  /// - Parameters:
  ///   - models: Models with the nodes' identifiers. If one has no identifier, nothing is deleted.
  ///   - updateCache: True to delete from store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
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
        "a model without identifier can't be deleted; nothing was changed")
      return refuse(error, subjects, context)
    }
    let operation = DeleteOperation(
      models, isWritten: updateCache, context: context, manager: self)
    return perform(operation, updateCache)
  }

  /// Deletes nodes by their identifiers, in one step.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers. If one is empty, nothing is deleted. Those of missing nodes
  ///     are ignored.
  ///   - updateCache: True to delete from store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
  @discardableResult
  public func deleteModels(
    withIdentifiers identifiers: [String], updateCache: Bool = true,
    context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard !identifiers.isEmpty else { return .done }
    if isClosed.withLock({ $0 }) { return refuse(DataProviderError.closed, identifiers, context) }
    if identifiers.contains(where: \.isEmpty) {
      let error = DataProviderError(
        .emptyIdentifier, "", "an empty identifier can't be deleted; nothing was changed")
      return refuse(error, identifiers, context)
    }
    let operation = DeleteOperation(
      identifiers: identifiers, isWritten: updateCache, context: context, manager: self)
    return perform(operation, updateCache)
  }

  /// Deletes a node in all its types, by its identifier.
  ///
  /// - Parameters:
  ///   - identifier: The identifier; that of a missing node is ignored.
  ///   - updateCache: True to delete from store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it.
  @discardableResult
  public func deleteModel(
    withIdentifier identifier: String, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    deleteModels(withIdentifiers: [identifier], updateCache: updateCache, context: context)
  }

  /// Changes any number of models and lists in one commit; all live data show it in one step.
  ///
  /// ```swift
  /// try await manager.write { transaction in
  ///   try transaction.moveElement("card:7", fromCollection: "open", toCollection: "done")
  ///   try transaction.updateIfPresent(Card.self, "card:7") { $0.isDone = true }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - context: Passed to the delegates and listeners of the change.
  ///   - body: As in `ModelStore.write(context:_:)`.
  /// - Returns: The result of `body`, after all live data show the commit.
  /// - Throws: The error of `body`, which leaves everything unchanged; ``DataProviderError``
  ///   `noStore` if the manager has no store; `StoreError`, `LMDBError`.
  /// - Complexity: As the `async` form of `ModelStore.write(context:_:)`.
  @discardableResult
  public func write<Result: Sendable>(
    context: (any Sendable)? = nil,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Result
  ) async throws -> Result {
    guard case .store(let bridge) = backing else {
      throw DataProviderError(
        .noStore, "", "only a manager with a store can make several changes in one commit")
    }
    if isClosed.withLock({ $0 }) { throw DataProviderError.closed }
    return try await bridge.store.write(context: context, body)
  }

  private func perform(_ operation: any ManagedOperation, _ updateCache: Bool) -> PendingWrite {
    perform(operation, updatesCache: updateCache)
    return operation.outcome
  }
}
