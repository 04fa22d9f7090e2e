import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Returns the state from which observers of a member pull; the first call makes it.
  ///
  /// - Returns: `nil` if `member` is not a member.
  func observed(by member: UInt64) -> ObservedState<LiveList<T>>? {
    withMember(member) { state, index in
      if let observed = state.members[index].observed { return observed }
      let observed = ObservedState(state.committed)
      state.members[index].observed = observed
      return observed
    }
  }

  /// Returns the tracking object of a member's reads and changes; the first call makes it.
  ///
  /// - Returns: `nil` if `member` is not a member.
  func tracking(of member: UInt64) -> ProviderTracking? {
    withMember(member) { state, index in
      if let tracking = state.members[index].tracking { return tracking }
      let tracking = ProviderTracking()
      state.members[index].tracking = tracking
      state.isTracked = true
      return tracking
    }
  }

  /// Takes over the observers of a provider that came from another collection.
  func attach(
    _ observed: ObservedState<LiveList<T>>?, _ tracking: ProviderTracking?, to member: UInt64
  ) {
    if observed == nil, tracking == nil { return }
    withMember(member) { state, index in
      state.members[index].observed = observed
      state.members[index].tracking = tracking
      if tracking != nil { state.isTracked = true }
      // Rows of another collection are unrelated to the rows of this one.
      observed?.publish(state.committed, isReset: true)
    }
  }

  /// Returns the committed list of the collection; `nil` if `member` is not a member.
  func committed(of member: UInt64) -> LiveList<T>? {
    withMember(member) { state, _ in state.committed }
  }

  /// Notifies tracked readers of the shown list, on the delivery target.
  ///
  /// With a store this happens before the commit; delegates are called after it.
  ///
  /// - Parameter actor: The member that made the change.
  func tellTrackers(except actor: UInt64? = nil) {
    guard state.withLock({ $0.isTracked }) else { return }
    manager.consistencyManager.deliverer.enqueue { [self] in
      let trackers = state.withLock { state in
        state.members.compactMap { member in
          member.standstill == nil && member.number != actor ? member.tracking : nil
        }
      }
      for tracking in trackers { tracking.changedData() }
    }
  }
}

/// The change of an update to the committed list.
struct CommittedChange {
  /// True if the whole list was set.
  var isReset = false
  /// The rows with other contents; `nil` if Pando did not compute them.
  var updated: [UInt32]?
}

extension ListState {
  /// Publishes the committed list to observers.
  func publish(_ change: CommittedChange, context: (any Sendable)?) {
    var list: LiveList<T>?
    for index in members.indices {
      // A pause by the limit of notifications does not delay the member's sequences.
      guard let observed = members[index].observed, members[index].receivesTellings else {
        continue
      }
      let committed = list ?? committed
      list = committed
      observed.publish(
        committed, updated: change.updated, isReset: change.isReset, context: context)
    }
  }

  /// Publishes the committed list to the observers of one member.
  func publish(toMember index: Int, context: (any Sendable)? = nil) {
    members[index].observed?.publish(committed, context: context)
  }
}
