public import PandoModels
import PandoSystem

extension ConsistencyManager {
  /// Replaces a model, and all nodes of its tree, in each tree that contains it.
  ///
  /// - Parameters:
  ///   - model: The root of a tree. The manager refuses a cyclic tree, one nested too deep, and an
  ///     empty identifier. It then changes nothing and reports the mistake to its delegate.
  ///   - context: Passed to the listeners of the change.
  public func updateModel(_ model: any Model, context: (any Sendable)? = nil) {
    updateModels([model], context: context)
  }

  /// Replaces models, and all nodes of their trees, in one update.
  ///
  /// - Parameters:
  ///   - models: Roots of trees, in order. Of several models with one identifier, the last one is
  ///     used.
  ///   - context: Passed to the listeners of the change.
  public func updateModels(_ models: [any Model], context: (any Sendable)? = nil) {
    enqueueCancellable(LiveUpdate(setting: models, context: context))
  }

  /// Deletes a node from each tree that contains it.
  ///
  /// - Parameters:
  ///   - model: A model with the node's identifier. If it has none, nothing changes, and the
  ///     manager reports the mistake to its delegate.
  ///   - context: Passed to the listeners of the change.
  public func deleteModel(_ model: any SimpleModel, context: (any Sendable)? = nil) {
    guard let identifier = model.modelIdentifier, !identifier.isEmpty else {
      report(
        ConsistencyError(
          .missingIdentifier, type: type(of: model),
          reason: "has no identifier, so it can't be deleted"))
      return
    }
    var update = LiveUpdate(deleting: [identifier], context: context)
    update.models = [model]
    enqueueCancellable(update)
  }

  private func enqueueCancellable(_ update: LiveUpdate) {
    pipeline.enqueue(.cancellable(update, scope, epoch: context.epoch.withLock { $0 }))
  }

  /// Waits until all queued updates are processed and delivered.
  ///
  /// - Complexity: O(1), and the wait for queued updates.
  public func drain() async {
    await withCheckedContinuation { continuation in
      enqueue { [deliverer, reporter] _ in
        deliverer.enqueue { reporter.afterAll { continuation.resume() } }
      }
    }
  }

  /// Removes all listeners, and cancels queued updates of this manager's own calls.
  ///
  /// Providers and the changes made through them stay. The call takes effect at once; a listener's
  /// running callback continues.
  ///
  /// - Parameter completion: Called once on the delivery target, after all earlier work, including
  ///   that of providers. The listeners are removed then, and running callbacks have returned.
  public func clearListenersAndCancelAllTasks(_ completion: (@Sendable () -> Void)? = nil) {
    context.epoch.withLock { $0 += 1 }
    let holders = listeners.withLock { $0.removeAll() }
    remove(holders)
    updatesListeners.remove { _ in true }
    guard let completion else { return }
    enqueue { [deliverer] _ in deliverer.enqueue(completion) }
  }

  /// Removes released listeners at once.
  ///
  /// The manager also does so from time to time.
  public func cleanMemory() {
    remove(listeners.withLock { $0.sweep() })
    updatesListeners.remove { $0.listener == nil }
  }
}
