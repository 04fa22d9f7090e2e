import PandoModels
import PandoSystem

extension ConsistencyManager {
  /// Pauses a listener: it gets no call until it is resumed.
  ///
  /// It takes effect at once, also for queued changes. A second call has no effect.
  ///
  /// - Parameter listener: Need not be registered yet; not retained.
  public func pauseListener(_ listener: any ConsistencyManagerListener) {
    listeners.withLock { makeHolder(listener, &$0) }.pause(by: .call)
  }

  /// Ends a pause.
  ///
  /// The listener gets at most one call, with the newest model, the newest context, and the union
  /// of the changes.
  ///
  /// - Parameter listener: Ignored if it is not paused.
  public func resumeListener(_ listener: any ConsistencyManagerListener) {
    guard let holder = listeners.withLock({ $0.holder(of: listener) }) else { return }
    if holder.resume(by: .call) { catchUp([holder]) }
  }

  /// Returns true if a listener is paused, by itself or with its batch.
  ///
  /// - Parameter listener: Any listener.
  /// - Returns: `false` if it is not paused or not registered.
  public func isPaused(_ listener: any ConsistencyManagerListener) -> Bool {
    listeners.withLock { $0.holder(of: listener) }?.isPaused ?? false
  }

  /// Delivers the changes of pauses together, in the order of the holders.
  func catchUp(_ holders: [ListenerHolder]) {
    guard !holders.isEmpty else { return }
    enqueue { scope in
      scope.publish(holders.ordered { $0.number < $1.number }.compactMap { $0.catchUp(scope) })
    }
  }

  /// Registers a member of a batch.
  ///
  /// - Returns: `nil` if it belongs to another batch.
  func holderForBatch(_ listener: any ConsistencyManagerListener) -> ListenerHolder? {
    addListener(listener)
    let holder = listeners.withLock { makeHolder(listener, &$0) }
    guard holder.state.withLock({ $0.batch }) == nil else {
      report(
        ConsistencyError(
          .memberOfAnotherBatch, identifier: listener.currentModel()?.modelIdentifier,
          reason: "the listener already belongs to another batch, and stays there"))
      return nil
    }
    return holder
  }
}
