import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// What observers of a member pull from, made at the first call.
  ///
  /// - Returns: `nil` if it is no member.
  func observed(by member: UInt64) -> ObservedState<LiveList<T>>? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      if let observed = state.members[index].observed { return observed }
      let observed = ObservedState(state.committed)
      state.members[index].observed = observed
      return observed
    }
  }

  /// What tells of reads and changes of a member's data, made at the first call.
  ///
  /// - Returns: `nil` if it is no member.
  func tracking(of member: UInt64) -> ProviderTracking? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      if let tracking = state.members[index].tracking { return tracking }
      let tracking = ProviderTracking()
      state.members[index].tracking = tracking
      state.isTracked = true
      return tracking
    }
  }

  /// Lets observers of a provider go on here, when it has come over from another collection.
  func attach(
    _ observed: ObservedState<LiveList<T>>?, _ tracking: ProviderTracking?, to member: UInt64
  ) {
    if observed == nil, tracking == nil { return }
    state.withLock { state in
      guard let index = state.index(of: member) else { return }
      state.members[index].observed = observed
      state.members[index].tracking = tracking
      if tracking != nil { state.isTracked = true }
      // Rows of another collection have nothing to do with those of this one.
      observed?.publish(state.committed, isReset: true)
    }
  }

  /// What is committed, as a member's collection has it; `nil` if it is no member.
  func committed(of member: UInt64) -> LiveList<T>? {
    state.withLock { state in state.index(of: member) == nil ? nil : state.committed }
  }

  /// Tells those who track reads of what is shown that it has changed, where delegates are called.
  ///
  /// With a store that is before delegates are told, which is after the commit.
  ///
  /// - Parameter actor: The member whose own change it is.
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

/// What an update changes in the committed list.
struct CommittedChange {
  /// Whether it was set as a whole.
  var isReset = false
  /// The rows with other contents; `nil` if they are not known.
  var updated: [UInt32]?
}

extension ListState {
  /// Shows observers what is committed now.
  func publish(_ change: CommittedChange, context: (any Sendable)?) {
    var list: LiveList<T>?
    for index in members.indices {
      // Callbacks that nobody takes hold up no sequence.
      guard let observed = members[index].observed, members[index].isTold else { continue }
      let committed = list ?? committed
      list = committed
      observed.publish(
        committed, updated: change.updated, isReset: change.isReset, context: context)
    }
  }

  /// Shows the observers of one member what is committed now.
  func publish(toMember index: Int, context: (any Sendable)? = nil) {
    members[index].observed?.publish(committed, context: context)
  }
}
