import PandoConsistency
public import PandoModels
import PandoSystem

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
    return self.change(identifier, context: context, replacing: nil, change)
  }

  private func change<M: SimpleModel>(
    _ identifier: String, context: (any Sendable)?, replacing replacement: (new: M, old: M)?,
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
          identifier, outcome: outcome, context: context, replacing: replacement, change)
        fetchedChanges.withLock { queue in
          queue.count -= 1
          if queue.count == 0 { queue.last = nil }
        }
      }
      return true
    }
    if !isQueued {
      updateLive(identifier, outcome: outcome, context: context, replacing: replacement, change)
    }
    return outcome
  }

  private func isLive(_ identifier: String, as type: any SimpleModel.Type) -> Bool {
    consistencyManager.liveTypes(of: identifier).contains { $0 == type }
  }

  /// Changes what nobody shows: the custom cache is asked for it.
  private func fetchAndChange<M: SimpleModel>(
    _ identifier: String, outcome: PendingWrite, context: (any Sendable)?,
    replacing replacement: (new: M, old: M)?,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) async {
    let provider = DataProvider<M>(dataModelManager: self)
    do {
      try await provider.fetchDataFromCache(withCacheKey: identifier)
      updateLive(identifier, outcome: outcome, context: context, replacing: replacement, change)
    } catch {
      outcome.finish(.failure(error))
    }
    _ = try? await outcome.committed()
    withExtendedLifetime(provider) {}
  }

  /// Sets what a caller has changed in a model, and not what the model merely carries along.
  ///
  /// `old` says what the caller had read. All that is the same in both stays as others have made it
  /// meanwhile; fields that differ, lists of children element by element, are set.
  /// ```swift
  /// var edited = shown
  /// edited.text = "Hello"
  /// manager.updateModel(edited, replacing: shown)
  /// ```
  ///
  /// - Parameters:
  ///   - new: The model that the caller wants.
  ///   - old: The model that the caller has read, with the same identifier.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored. It fails with the code `superseded` where the model has
  ///   been deleted meanwhile.
  @discardableResult
  public func updateModel<M: SimpleModel & Codable>(
    _ new: M, replacing old: M, context: (any Sendable)? = nil
  ) -> PendingWrite {
    guard let identifier = new.modelIdentifier, identifier == old.modelIdentifier else {
      let error = DataProviderError(
        .wrongKey, new.modelIdentifier ?? "",
        "it can't replace \(old.modelIdentifier ?? "nil"); both versions have one identifier")
      return refuse(error, [new.modelIdentifier].compactMap { $0 }, context)
    }
    if let refusal = refusal(of: new) { return refuse(refusal, [identifier], context) }
    return change(identifier, context: context, replacing: (new, old)) {
      $0 = try ModelChildren.rebase(new, from: old, onto: $0)
    }
  }

  /// Changes a model that somebody shows, or that is stored.
  @discardableResult
  func updateLive<M: SimpleModel>(
    _ identifier: String, outcome: PendingWrite = PendingWrite(), context: (any Sendable)?,
    replacing replacement: (new: M, old: M)? = nil,
    _ change: @escaping @Sendable (inout M) throws -> Void
  ) -> PendingWrite {
    perform(
      ChangeOperation(
        identifier, self, outcome: outcome, context: context, replacing: replacement, change),
      updatesCache: true)
    return outcome
  }
}
