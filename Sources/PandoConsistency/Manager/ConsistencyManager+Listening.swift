public import FoundationEssentials
public import PandoModels
import PandoSystem

extension ConsistencyManager {
  /// Registers a listener for all identifiers of its current model.
  ///
  /// - Parameter listener: Not retained.
  public func addListener(_ listener: any ConsistencyManagerListener) {
    register(listener, nil)
  }

  /// Registers a listener for all identifiers of a tree.
  ///
  /// A further registration replaces the tree. The listener's current model is registered in any
  /// case. A paused listener stays paused.
  ///
  /// - Parameters:
  ///   - listener: Not retained.
  ///   - model: The root of a tree.
  public func addListener(_ listener: any ConsistencyManagerListener, to model: any Model) {
    register(listener, model)
  }

  /// Removes a listener.
  ///
  /// It gets no further call, not even for queued changes, and its pause ends.
  ///
  /// A call that is running on another thread continues.
  ///
  /// - Parameter listener: Ignored if it is not registered.
  public func removeListener(_ listener: any ConsistencyManagerListener) {
    listeners.withLock { table in
      if let holder = table.remove(listener) { remove([holder]) }
    }
  }

  /// Returns the time of the last change that a listener received.
  ///
  /// - Parameter listener: Any listener.
  /// - Returns: `nil` if it received none.
  public func lastUpdated(of listener: any ConsistencyManagerListener) -> Date? {
    listeners.withLock { $0.holder(of: listener) }.flatMap { holder in
      holder.state.withLock { $0.lastUpdated }
    }
  }

  /// Registers a listener for each later update and delete.
  ///
  /// - Parameter listener: Not retained; a second registration has no effect.
  public func addUpdatesListener(_ listener: any ConsistencyManagerUpdatesListener) {
    guard let holder = updatesListeners.makeHolder(listener) else { return }
    enqueue { [updatesListeners] _ in updatesListeners.activate(holder) }
  }

  /// Removes a listener of all updates, also for queued ones.
  ///
  /// - Parameter listener: Ignored if it is not registered.
  public func removeUpdatesListener(_ listener: any ConsistencyManagerUpdatesListener) {
    updatesListeners.remove { $0.listener === listener }
  }
}

extension ConsistencyManager: ListenerKeeper {
  private func register(_ listener: any ConsistencyManagerListener, _ model: (any Model)?) {
    let isSweepDue = listeners.withLock { table in
      let holder = makeHolder(listener, &table)
      // Queued under the lock, so that the holders' numbers follow the order of registration.
      enqueue { holder.listen(to: model, $0) }
      return table.isSweepDue
    }
    if isSweepDue { cleanMemory() }
  }

  /// Returns the holder of a listener; makes one if it has none.
  ///
  /// Called under the table's lock.
  func makeHolder(
    _ listener: any ConsistencyManagerListener, _ table: inout ListenerTable
  ) -> ListenerHolder {
    if let holder = table.holder(of: listener) { return holder }
    let holder = ListenerHolder(listener, self)
    if let dead = table.insert(holder, for: listener) { remove([dead]) }
    return holder
  }

  /// Ends holders that were removed from the table.
  func remove(_ holders: [ListenerHolder]) {
    guard !holders.isEmpty else { return }
    for holder in holders { holder.state.withLock { $0.remove() } }
    enqueue { scope in
      for holder in holders { holder.leave(scope) }
    }
  }

  /// Removes the holder of a released listener that the pipeline has found.
  func forget(_ holder: ListenerHolder) {
    listeners.withLock { $0.remove(holder) }
  }
}
