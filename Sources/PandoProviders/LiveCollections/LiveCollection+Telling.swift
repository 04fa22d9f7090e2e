import PandoConsistency
import PandoModels
import PandoSystem

/// Notifies members' delegates, outside every lock, on the delivery target.
///
/// Each notification has the number of its update. The delivery of that update calls the delegates of
/// all members, then their batches. An edit without a store has no delivery, so its notifications are
/// sent as soon as no older one is queued.
extension LiveCollection {
  /// Begins the notifications of a new delegate with the elements that the member shows now.
  ///
  /// - Returns: True if notifications are queued, which the new delegate does not receive; `nil` if
  ///   `member` is not a member.
  func beginTelling(_ member: UInt64) -> Bool? {
    withMember(member) { state, index in
      if let shown = state.members[index].standstill?.shown {
        state.members[index].frozen?.told = shown
      } else if state.members[index].frozen != nil {
        state.members[index].frozen?.told = state.list
      } else {
        state.members[index].viewer.firstEdit = state.editCount
      }
      return state.members[index].tellings.skip()
    }
  }

  /// Notifies members of edits without a store.
  ///
  /// On the delivery target they are notified before this returns, elsewhere asynchronously.
  ///
  /// - Parameter actor: The member that made the edit. Its queued notifications are sent after the
  ///   call.
  func tellNow(except actor: UInt64?) {
    let deliverer = manager.consistencyManager.deliverer
    let isDone = deliverer.callHere { tellEdits(except: actor) }
    if isDone, state.withLock({ $0.nextEdit(except: nil) == nil }) { return }
    deliverer.enqueue { self.tellEdits() }
  }

  /// Notifies the members of an update, and of the edits before it.
  ///
  /// - Returns: The batches of the notified members, each once.
  func tellUpdate(_ number: UInt64) -> [BatchCore] {
    if !tellsCommitted { tellEdits() }
    state.withLock { $0.isTelling = true }
    let batches = tellMembers(number)
    let isEditNext = state.withLock { state in
      state.isTelling = false
      return state.nextEdit(except: nil) != nil
    }
    // Sent after the batches of this update.
    if isEditNext { manager.consistencyManager.deliverer.enqueue { self.tellEdits() } }
    return batches
  }

  /// Notifies members of edits in order, up to the first queued update, whose delivery sends it.
  ///
  /// If a delegate edits the collection, this loop also sends that edit.
  private func tellEdits(except actor: UInt64? = nil) {
    while true {
      let number = state.withLock { state -> UInt64? in
        if state.isTelling { return nil }
        let number = state.nextEdit(except: actor)
        state.isTelling = number != nil
        return number
      }
      guard let number else { return }
      let batches = tellMembers(number, except: actor)
      state.withLock { $0.isTelling = false }
      for batch in batches { batch.tell() }
    }
  }

  /// Sends members their queued notifications up to a number.
  ///
  /// - Returns: The batches of the notified members, each once.
  private func tellMembers(_ number: UInt64, except actor: UInt64? = nil) -> [BatchCore] {
    let waiting = state.withLock { state in
      state.members.filter { member in
        member.receivesTellings && member.number != actor && member.tellings.isDue(number)
      }.map(\.number)
    }
    var batches: [BatchCore] = []
    for member in waiting {
      while let (provider, telling) = nextTelling(of: member, number) {
        guard let batch = provider?.noteForBatch(telling) else { continue }
        if !batches.contains(where: { $0 === batch }) { batches.append(batch) }
      }
    }
    return batches
  }

  /// Sends a member all its queued notifications, if the caller runs on the delivery target.
  ///
  /// Called before an edit by that member, so that its delegate has all changes on which the edit is
  /// based. Batches are still notified with their updates.
  ///
  /// - Returns: True if the caller runs there.
  func tellMemberHere(_ member: UInt64) -> Bool {
    manager.consistencyManager.deliverer.callHere {
      while let (provider, untold) = withMember(member, { $0.takeUntold(at: $1) }) {
        provider?.tell(untold.telling, untold.list)
      }
    }
  }

  /// Reports members with too many queued notifications to the manager's delegate.
  func reportLimits() {
    let hitCount = state.withLock { state in exchange(&state.limitHitCount, with: 0) }
    for _ in 0..<hitCount { manager.reportLimit(T.self) }
  }

  /// Calls a member's delegate with its next notification, unless it was sent early.
  ///
  /// The provider is returned, so that it is released outside the lock: its `deinit` takes the lock.
  ///
  /// - Returns: The notification, and the provider whose batch records it; `nil` if none is due.
  private func nextTelling(
    of member: UInt64, _ number: UInt64
  ) -> ((any CollectionMember<T>)?, ListTelling<T>)? {
    var tracking: ProviderTracking?
    let next = withMember(member) { state, index -> Due? in
      guard state.members[index].receivesTellings else { return nil }
      if state.members[index].tellings.isDue(number) {
        var untold: (telling: ListTelling<T>, list: [T])?
        if !state.members[index].tellings.isFirstTold {
          untold = state.members[index].tellings.takeUntold()
        }
        return state.members[index].tellings.popFirst().map {
          Due(state.members[index].provider, $0, untold)
        }
      }
      guard state.members[index].tellings.isEmpty, state.members[index].frozen != nil
      else { return nil }
      // All notifications that exceeded the limit have been sent.
      state.members[index].frozen?.reasons.remove(.limit)
      let telling = state.thaw(index, tellsCommitted: tellsCommitted)
      tracking = state.members[index].tracking
      return telling.map { Due(state.members[index].provider, $0, ($0, state.list.models)) }
    }
    tracking?.changedIsPaused()
    guard let next else { return nil }
    if let untold = next.untold { next.provider?.tell(untold.telling, untold.list) }
    return (next.provider, next.telling)
  }

  /// The next notification of a member.
  private struct Due {
    let provider: (any CollectionMember<T>)?
    let telling: ListTelling<T>
    /// The call of the delegate; `nil` if it was made early.
    let untold: (telling: ListTelling<T>, list: [T])?

    init(
      _ provider: (any CollectionMember<T>)?, _ telling: ListTelling<T>,
      _ untold: (telling: ListTelling<T>, list: [T])?
    ) {
      (self.provider, self.telling, self.untold) = (provider, telling, untold)
    }
  }
}

extension ListState {
  /// Returns the number of the next edit to send; `nil` if there is none, or if an update precedes
  /// it.
  fileprivate func nextEdit(except actor: UInt64?) -> UInt64? {
    var next: ListTelling<T>?
    for member in members where member.receivesTellings && member.number != actor {
      guard let first = member.tellings.first else { continue }
      if next.map({ first.number < $0.number }) ?? true { next = first }
    }
    return next?.isEdit == true ? next?.number : nil
  }

  /// Takes the next notification that was not sent to a member's delegate.
  fileprivate mutating func takeUntold(
    at index: Int
  ) -> ((any CollectionMember<T>)?, (telling: ListTelling<T>, list: [T]))? {
    members[index].tellings.takeUntold().map { (members[index].provider, $0) }
  }
}
