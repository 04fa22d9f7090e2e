import PandoConsistency
import PandoModels
import PandoSystem

/// Telling members' delegates, outside every lock, on the delivery target.
///
/// Each telling carries the number of its update and is told by the delivery of that update, so that a
/// batch stands behind its last member. Edits without a store have no delivery of their own: their
/// tellings come as soon as nothing older is queued.
extension LiveCollection {
  /// Tells edits before this returns when the caller is where delegates are called, else soon.
  ///
  /// - Parameter actor: The member whose call this is: what is queued for it comes behind the call.
  func tellNow(except actor: UInt64?) {
    let deliverer = manager.consistencyManager.deliverer
    let isDone = deliverer.callHere { tellEdits(except: actor) }
    if isDone, state.withLock({ $0.nextEdit(except: nil) == nil }) { return }
    deliverer.enqueue { self.tellEdits() }
  }

  /// Tells the members of an update; the edits before it have been told by then.
  ///
  /// - Returns: The batches of those who were told, each once.
  func tellUpdate(_ number: UInt64) -> [BatchCore] {
    if !tellsCommitted { tellEdits() }
    state.withLock { $0.isTelling = true }
    let batches = tellMembers(number)
    let isEditNext = state.withLock { state in
      state.isTelling = false
      return state.nextEdit(except: nil) != nil
    }
    // Behind the batches of this update.
    if isEditNext { manager.consistencyManager.deliverer.enqueue { self.tellEdits() } }
    return batches
  }

  /// Tells edits one after another, up to the first update that has a delivery of its own.
  ///
  /// A delegate may change the collection: then that is told here too, behind what made it do so, and
  /// each is told in the order of the changes.
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

  /// Tells members what is queued for them up to a number.
  ///
  /// - Returns: The batches of those who were told, each once.
  private func tellMembers(_ number: UInt64, except actor: UInt64? = nil) -> [BatchCore] {
    let waiting = state.withLock { state in
      state.members.filter { member in
        member.isTold && member.number != actor && member.tellings.isDue(number)
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

  /// Tells a member's delegate all that is queued for it, if this runs where delegates are called.
  ///
  /// So what the member's own call returns belongs behind all that the delegate has been told. The batches have
  /// their turn with the updates.
  ///
  /// - Returns: Whether this runs there.
  func tellMemberHere(_ member: UInt64) -> Bool {
    manager.consistencyManager.deliverer.callHere {
      while let (provider, untold) = state.withLock({ $0.takeUntold(of: member) }) {
        provider?.tell(untold.telling, untold.list)
      }
    }
  }

  /// Tells the manager's delegate of members that have too much to be told.
  func reportLimits() {
    let hitCount = state.withLock { state in exchange(&state.limitHitCount, with: 0) }
    for _ in 0..<hitCount { manager.reportLimit(T.self) }
  }

  /// Tells a member's delegate the next thing, unless it has been told already.
  ///
  /// The provider leaves the lock with its telling: the last reference to it may be this one, and its `deinit` takes
  /// the same lock.
  ///
  /// - Returns: What it was, and whom its batch is to hear it from; `nil` if nothing is due.
  private func nextTelling(
    of member: UInt64, _ number: UInt64
  ) -> ((any CollectionMember<T>)?, ListTelling<T>)? {
    var tracking: ProviderTracking?
    let next = state.withLock { state -> Due? in
      guard let index = state.index(of: member), state.members[index].isTold else { return nil }
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
      // It has been told of everything that made it too much.
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

  /// What is due for a member.
  private struct Due {
    let provider: (any CollectionMember<T>)?
    let telling: ListTelling<T>
    /// What its delegate has not been told before its turn.
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
  /// The edit that is to be told next to others than a member; `nil` if there is none, or an update before it.
  fileprivate func nextEdit(except actor: UInt64?) -> UInt64? {
    var next: ListTelling<T>?
    for member in members where member.isTold && member.number != actor {
      guard let first = member.tellings.first else { continue }
      if next.map({ first.number < $0.number }) ?? true { next = first }
    }
    return next?.isEdit == true ? next?.number : nil
  }

  /// Takes what a member's delegate is to be told next, and has not been told.
  fileprivate mutating func takeUntold(
    of member: UInt64
  ) -> ((any CollectionMember<T>)?, (telling: ListTelling<T>, list: [T]))? {
    guard let index = index(of: member), let untold = members[index].tellings.takeUntold()
    else { return nil }
    return (members[index].provider, untold)
  }
}
