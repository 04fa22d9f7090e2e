import PandoConsistency
public import PandoModels
import PandoRecords
import PandoSystem

extension DataModelManager {
  /// Changes the newest version of a model, so that concurrent changes by others are kept.
  ///
  /// The closure runs when the write is carried out. Changes of others in the model or its children
  /// are not overwritten.
  ///
  /// ```swift
  /// manager.update(Message.self, "Message:34") { $0.likeCount += 1 }
  /// ```
  /// The change is visible after the commit; without a store, asynchronously.
  ///
  /// - Parameters:
  ///   - type: The type in which the model is read.
  ///   - identifier: The identifier of the model.
  ///   - context: Passed to the delegates and listeners of the change.
  ///   - change: Changes the value; its identifier must stay. It may run more than once, so it must
  ///     have no other effects.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of `change`, and
  ///   with the code `noSuchModel` if the model does not exist.
  @discardableResult
  public func update<M: SimpleModel>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    if let refusal = refusal(ofReading: type) { return refuse(refusal, [identifier], context) }
    return self.change(
      identifier, absence: .noSuchModel(identifier), context: context, replacing: nil, change)
  }

  /// Changes the newest version of a model.
  ///
  /// ```swift
  /// manager.update(Message.key(34)) { $0.likeCount += 1 }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the model.
  ///   - context: Passed to the delegates and listeners of the change.
  ///   - change: Changes the value; its key must stay. It may run more than once, so it must have no
  ///     other effects.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of `change`, and
  ///   with the code `noSuchModel` if the model does not exist.
  @discardableResult
  public func update<M: SimpleModel>(
    _ key: Key<M>, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite { update(M.self, key.rawValue, context: context, change) }

  /// Changes the newest version of a model, if it exists.
  ///
  /// - Parameters:
  ///   - type: The type in which the model is read.
  ///   - identifier: The identifier of the model.
  ///   - context: Passed to the delegates and listeners of the change.
  ///   - change: Changes the value; its identifier must stay. It may run more than once, so it must
  ///     have no other effects.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of `change`.
  @discardableResult
  public func updateIfPresent<M: SimpleModel>(
    _ type: M.Type = M.self, _ identifier: String, context: (any Sendable)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    if let refusal = refusal(ofReading: type) { return refuse(refusal, [identifier], context) }
    return self.change(identifier, absence: nil, context: context, replacing: nil, change)
  }

  private func change<M: SimpleModel>(
    _ identifier: String, absence: DataProviderError?, context: (any Sendable)?,
    replacing replacement: (new: M, old: M)?,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    let outcome = PendingWrite()
    let isQueued = fetchedChanges.withLock { queue in
      guard case .cache = backing, queue.last != nil || !isLive(identifier, as: M.self) else {
        return false
      }
      queue.count += 1
      queue.last = Task { [last = queue.last] in
        await last?.value
        await fetchAndChange(
          identifier, outcome: outcome, absence: absence, context: context,
          replacing: replacement, change)
        fetchedChanges.withLock { queue in
          queue.count -= 1
          if queue.count == 0 { queue.last = nil }
        }
      }
      return true
    }
    if !isQueued {
      updateLive(
        identifier, outcome: outcome, absence: absence, context: context, replacing: replacement,
        change)
    }
    return outcome
  }

  private func isLive(_ identifier: String, as type: any SimpleModel.Type) -> Bool {
    consistencyManager.liveTypes(of: identifier).contains { $0 == type }
  }

  /// Changes a model that is not live, after loading it from the custom cache.
  private func fetchAndChange<M: SimpleModel>(
    _ identifier: String, outcome: PendingWrite, absence: DataProviderError?,
    context: (any Sendable)?, replacing replacement: (new: M, old: M)?,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async {
    let provider = DataProvider<M>(dataModelManager: self)
    do {
      try await provider.fetchDataFromCache(withCacheKey: identifier)
      updateLive(
        identifier, outcome: outcome, absence: absence, context: context, replacing: replacement,
        change)
    } catch {
      outcome.finish(.failure(error))
    }
    _ = try? await outcome.committed()
    withExtendedLifetime(provider) {}
  }

  /// Writes the differences between two versions of a model, so that concurrent changes are kept.
  ///
  /// `old` is the version that the caller read. Fields that differ from it are set; lists of
  /// children are compared element by element. Equal fields keep the values that others have set
  /// meanwhile.
  /// ```swift
  /// var edited = shown
  /// edited.text = "Hello"
  /// manager.updateModel(edited, replacing: shown)
  /// ```
  /// Use `update(_:_:context:_:)` if the new value depends on the newest one.
  ///
  /// - Parameters:
  ///   - new: The edited model.
  ///   - old: The model before the edit, with the same identifier.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it. It fails with the code `superseded` if
  ///   the model was deleted meanwhile.
  @discardableResult
  public func updateModel<M: SimpleModel & Codable>(
    _ new: M, replacing old: M, context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard let identifier = new.modelIdentifier, identifier == old.modelIdentifier else {
      let error = DataProviderError(
        .wrongKey, new.modelIdentifier ?? "",
        "it can't replace \(old.modelIdentifier ?? "nil"); both versions must have one identifier")
      return refuse(error, [new.modelIdentifier].compactMap { $0 }, context)
    }
    if let refusal = refusal(of: new) { return refuse(refusal, [identifier], context) }
    let gone = DataProviderError(
      .superseded, identifier,
      "it was deleted after it was read; set it to create it again; nothing was changed")
    return change(identifier, absence: gone, context: context, replacing: (new, old)) {
      $0 = try ModelChildren.rebase(new, from: old, onto: $0)
    }
  }

  /// Changes a model that is live or stored.
  @discardableResult
  func updateLive<M: SimpleModel>(
    _ identifier: String, outcome: PendingWrite = PendingWrite(), absence: DataProviderError?,
    context: (any Sendable)?, replacing replacement: (new: M, old: M)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    perform(
      ChangeOperation(
        identifier, self, outcome: outcome, absence: absence, context: context,
        replacing: replacement, change),
      updatesCache: true)
    return outcome
  }
}
