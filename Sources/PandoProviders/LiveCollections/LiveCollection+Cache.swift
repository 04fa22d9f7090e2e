import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// The stored elements at this moment; `nil` if they are not loaded.
  var storedModels: [T]? { state.withLock { $0.storedList?.models } }

  /// Returns true if the edited element was removed from the shown list before.
  ///
  /// For a written edit, the element must be missing in the stored list too. Called on the
  /// pipeline, when it is the edit's turn.
  func isGone(_ operation: ListOperation<T>) -> Bool {
    state.withLock { state in
      guard operation.isWritten else { return state.isGone(operation) }
      guard state.isLoaded, !state.isOutOfStep, state.isGone(operation) else { return false }
      switch state.stored {
      case .asShown: return true
      case .unread: return false
      case .list(let list):
        return operation.written.map { $0.plan(in: list.rows) == .nothing } ?? true
      }
    }
  }

  func makeLoss(context: (any Sendable)?) -> CacheLoss? {
    guard case .cache(let cache) = manager.backing, let cacheKey, let models = storedModels else {
      return nil
    }
    cache.delayReads(of: cacheKey)
    return { cache in
      try await cache.setCollection(models, forKey: cacheKey, context: context)
    }
  }

  func makeUnreadLoss(of identifiers: [String], context: (any Sendable)?) -> CacheLoss? {
    guard case .cache(let cache) = manager.backing, let cacheKey, storedModels == nil else {
      return nil
    }
    // A read that is repeated from now on would find the deleted elements, and take them as new.
    cache.delayReads(of: cacheKey)
    return { cache in
      guard
        var list = try await cache.collection(forKey: cacheKey, as: T.self, context: context)
      else { return }
      let count = list.count
      list.removeAll { model in
        guard let identifier = model.modelIdentifier else { return false }
        return identifiers.contains { $0.hasSameBytes(as: identifier) }
      }
      if list.count == count { return }
      try await cache.setCollection(list, forKey: cacheKey, context: context)
    }
  }
}

extension ListState {
  /// Returns true if the element of a pending edit is missing after the edits before it.
  fileprivate func isGone(_ operation: ListOperation<T>) -> Bool {
    pending.first { $0.operation === operation }?.step.plan == .nothing
  }
}
