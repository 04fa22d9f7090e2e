public import FoundationEssentials
public import PandoModels
import PandoSystem

extension ConsistencyManager {
  /// Registers a listener for every identifier in what it shows.
  ///
  /// - Parameter listener: Not retained.
  public func addListener(_ listener: any ConsistencyManagerListener) {
    register(listener, nil)
  }

  /// Registers a listener for every identifier in a tree.
  ///
  /// Registering again replaces the tree; what the listener shows is listened to in any case. A paused
  /// listener stays paused.
  ///
  /// - Parameters:
  ///   - listener: Not retained.
  ///   - model: The root of a tree.
  public func addListener(_ listener: any ConsistencyManagerListener, to model: any Model) {
    register(listener, model)
  }

  /// Ends everything between a listener and the manager: it gets no call any more, not even for what is
  /// on its way, and is not paused any more.
  ///
  /// A call that another thread is in goes on.
  ///
  /// - Parameter listener: Nothing happens if it is not registered.
  public func removeListener(_ listener: any ConsistencyManagerListener) {
    listeners.withLock { table in
      if let holder = table.remove(listener) { remove([holder]) }
    }
  }

  /// Returns when the last change that a listener was told of was made.
  ///
  /// - Parameter listener: Any listener.
  /// - Returns: `nil` if it was not told of any.
  public func lastUpdated(of listener: any ConsistencyManagerListener) -> Date? {
    listeners.withLock { $0.holder(of: listener) }.flatMap { holder in
      holder.state.withLock { $0.lastUpdated }
    }
  }

  /// Registers a listener for every update and delete from now on.
  ///
  /// - Parameter listener: Not retained; registering it twice is registering it once.
  public func addUpdatesListener(_ listener: any ConsistencyManagerUpdatesListener) {
    guard let holder = updatesListeners.makeHolder(listener) else { return }
    enqueue { [updatesListeners] _ in updatesListeners.activate(holder) }
  }

  /// Ends what ``addUpdatesListener(_:)`` began, also for what is on its way.
  ///
  /// - Parameter listener: Nothing happens if it is not registered.
  public func removeUpdatesListener(_ listener: any ConsistencyManagerUpdatesListener) {
    updatesListeners.remove { $0.listener === listener }
  }
}

extension ConsistencyManager: ListenerKeeper {
  private func register(_ listener: any ConsistencyManagerListener, _ model: (any Model)?) {
    let isSweepDue = listeners.withLock { table in
      let holder = makeHolder(listener, &table)
      // Queued under the lock: the order of the numbers is the order of registration.
      enqueue { holder.listen(to: model, $0) }
      return table.isSweepDue
    }
    if isSweepDue { cleanMemory() }
  }

  /// The holder of a listener, a new one if it has none.
  ///
  /// Under the table's lock.
  func makeHolder(
    _ listener: any ConsistencyManagerListener, _ table: inout ListenerTable
  ) -> ListenerHolder {
    if let holder = table.holder(of: listener) { return holder }
    let holder = ListenerHolder(listener, self)
    if let dead = table.insert(holder, for: listener) { remove([dead]) }
    return holder
  }

  /// Ends holders that the table has no more.
  func remove(_ holders: [ListenerHolder]) {
    guard !holders.isEmpty else { return }
    for holder in holders { holder.state.withLock { $0.remove() } }
    enqueue { scope in
      for holder in holders { holder.leave(scope) }
    }
  }

  /// Forgets the holder of a dead listener that the pipeline has met.
  func forget(_ holder: ListenerHolder) {
    listeners.withLock { $0.remove(holder) }
  }
}
