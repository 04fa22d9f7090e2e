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
