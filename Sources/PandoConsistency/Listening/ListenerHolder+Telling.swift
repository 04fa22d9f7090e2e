import PandoModels
import PandoSystem

/// The part of a listener's holder that runs on the delivery target.
extension ListenerHolder {
  private enum Decision {
    case drop, fold, tell
  }

  /// Delivers one change to the listener, unless it is paused or removed.
  ///
  /// - Returns: The batch to notify too; `nil` if the listener was not called.
  func tell(_ change: ListenerChange) -> (any LiveBatch)? {
    let listener = listener
    let decision = state.withLock { state -> Decision in
      state.queuedCount -= 1
      if listener == nil || state.isRemoved || change.sequence <= state.abandoned { return .drop }
      if state.folds {
        state.fold(HeldChanges(change.updates, change.origin))
        return .fold
      }
      return .tell
    }
    guard let listener, decision == .tell, isStillAt(change.root, listener) != nil else {
      if decision != .fold { finish(change.sequence) }
      return nil
    }
    state.withLock { $0.lastUpdated = change.origin.date }
    listener.modelUpdated(
      change.model, updates: change.updates, context: change.origin.context)
    return finish(change.sequence)
  }

  /// Delivers all held-back changes to the listener.
  func tell(_ change: CatchUp) -> ListenerChange.Told? {
    let listener = listener
    let held = state.withLock { state -> HeldChanges? in
      if listener == nil || state.isRemoved || change.sequence <= state.abandoned { return nil }
      if state.isPaused {
        // The listener was paused again meanwhile. The changes wait for the end of that pause.
        if let changes = change.changes { state.fold(changes) }
        return nil
      }
      state.folds = state.keepsBack && !state.isBacklogged
      var held = exchange(&state.folded, with: nil)
      if let changes = change.changes {
        if held == nil { held = changes } else { held?.add(changes) }
      }
      return held
    }
    guard let listener, let held, let shown = isStillAt(change.root, listener),
      let updates = held.difference(from: shown, to: change.model)
    else {
      if !state.withLock({ $0.isPaused }) { finish(change.sequence) }
      return nil
    }
    state.withLock { $0.lastUpdated = held.date }
    listener.modelUpdated(change.model, updates: updates, context: held.context)
    return ListenerChange.Told(
      batch: finish(change.sequence), listener: listener, updates: updates, context: held.context,
      order: held.order)
  }

  /// Returns the current model of the listener if its root is that of a change.
  private func isStillAt(
    _ root: String?, _ listener: any ConsistencyManagerListener
  ) -> (any Model)? {
    guard let current = listener.currentModel(), Self.sameText(current.modelIdentifier, root)
    else { return nil }
    return current
  }

  /// Records that a change was delivered or dropped.
  ///
  /// - Returns: The listener's batch.
  @discardableResult
  private func finish(_ sequence: UInt64) -> (any LiveBatch)? {
    let (batch, catchesUp) = state.withLock { state in
      if sequence > state.told { state.told = sequence }
      if !state.isAhead { state.newest = nil }
      return (state.batch, state.isBacklogged && state.queuedCount == 0 && !state.isPaused)
    }
    if catchesUp { manager?.catchUp([self]) }
    return batch
  }
}
