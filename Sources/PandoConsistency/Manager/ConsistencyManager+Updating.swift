public import PandoModels
import PandoSystem

extension ConsistencyManager {
  /// Replaces a model, and everything in its tree, in every tree that holds it.
  ///
  /// - Parameters:
  ///   - model: The root of a tree. A cyclic one, one nested too deep, or one with an empty identifier
  ///     is refused: nothing happens, and the delegate is told.
  ///   - context: Travels to everyone who is told.
  public func updateModel(_ model: any Model, context: (any Sendable)? = nil) {
    updateModels([model], context: context)
  }

  /// Replaces models, and everything in their trees, in one update.
  ///
  /// - Parameters:
  ///   - models: Roots of trees, in order: of one identifier the last one counts.
  ///   - context: Travels to everyone who is told.
  public func updateModels(_ models: [any Model], context: (any Sendable)? = nil) {
    enqueueCancellable(LiveUpdate(setting: models, context: context))
  }

  /// Deletes a node from every tree that holds it.
  ///
  /// - Parameters:
  ///   - model: Only its identifier counts; without one nothing happens, and the delegate is told.
  ///   - context: Travels to everyone who is told.
  public func deleteModel(_ model: any SimpleModel, context: (any Sendable)? = nil) {
    guard let identifier = model.modelIdentifier, !identifier.isEmpty else {
      report(
        ConsistencyError(
          .missingIdentifier, type: type(of: model),
          reason: "has no identifier, so there is nothing to delete"))
      return
    }
    var update = LiveUpdate(deleting: [identifier], context: context)
    update.models = [model]
    enqueueCancellable(update)
  }

  private func enqueueCancellable(_ update: LiveUpdate) {
    pipeline.enqueue(.cancellable(update, scope, epoch: context.epoch.withLock { $0 }))
  }

  /// Waits until everything that is queued has been processed and told.
  ///
  /// - Complexity: O(1), and the wait for what is queued.
  public func drain() async {
    await withCheckedContinuation { continuation in
      enqueue { [deliverer, reporter] _ in
        deliverer.enqueue { reporter.afterAll { continuation.resume() } }
      }
    }
  }

  /// Removes all listeners, and cancels what was posted by this manager's own calls and is not worked
  /// out yet.
  ///
  /// Providers stay, and so do the changes that were posted through them. It holds at once; a call that
  /// a listener is in goes on.
  ///
  /// - Parameter completion: Called once on the manager's delivery target when it is carried out:
  ///   nothing of the listeners is left then, and a call that one was in has returned. It is called
  ///   behind what was queued before, also for providers.
  public func clearListenersAndCancelAllTasks(_ completion: (@Sendable () -> Void)? = nil) {
    context.epoch.withLock { $0 += 1 }
    let holders = listeners.withLock { $0.removeAll() }
    remove(holders)
    updatesListeners.remove { _ in true }
    guard let completion else { return }
    enqueue { [deliverer] _ in deliverer.enqueue(completion) }
  }

  /// Forgets dead listeners at once; by itself that happens now and then.
  public func cleanMemory() {
    remove(listeners.withLock { $0.sweep() })
    updatesListeners.remove { $0.listener == nil }
  }
}
