import PandoConsistency
import PandoSystem
import PandoModels

/// Telling members' delegates, outside every lock, on the delivery target.
///
/// Each telling carries the number of its update and is told by the delivery of that update, so that a
/// batch stands behind its last member. Edits without a store have no delivery of their own: their
/// tellings come as soon as nothing older is queued.
extension LiveCollection {
  /// Tells edits before this returns when the caller is where delegates are called, else soon.
  func tellNow() {
    manager.consistencyManager.deliverer.callNow { self.tellEdits() }
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
      return state.nextEdit != nil
    }
    // Behind the batches of this update.
    if isEditNext { manager.consistencyManager.deliverer.enqueue { self.tellEdits() } }
    return batches
  }

  /// Tells edits one after another, up to the first update that has a delivery of its own.
  ///
  /// A delegate may change the collection: then that is told here too, behind what made it do so, and
  /// each is told in the order of the changes.
  private func tellEdits() {
    while true {
      let number = state.withLock { state -> UInt64? in
        if state.isTelling { return nil }
        let number = state.nextEdit
        state.isTelling = number != nil
        return number
      }
      guard let number else { return }
      let batches = tellMembers(number)
      state.withLock { $0.isTelling = false }
      for batch in batches { batch.tell() }
    }
  }

  /// Tells members what is queued for them up to a number.
  ///
  /// - Returns: The batches of those who were told, each once.
  private func tellMembers(_ number: UInt64) -> [BatchCore] {
    let waiting = state.withLock { state in
      state.members.filter { $0.isTold && $0.tellings.isDue(number) }.map(\.number)
    }
    var batches: [BatchCore] = []
    for member in waiting {
      while let (provider, telling) = nextTelling(of: member, number) {
        guard let batch = provider?.tell(telling) else { continue }
        if !batches.contains(where: { $0 === batch }) { batches.append(batch) }
      }
    }
    return batches
  }

  /// Tells the manager's delegate of members that have too much to be told.
  func reportLimits() {
    let hitCount = state.withLock { state in exchange(&state.limitHitCount, with: 0) }
    for _ in 0..<hitCount { manager.reportLimit(T.self) }
  }

  private func nextTelling(
    of member: UInt64, _ number: UInt64
  ) -> ((any CollectionMember)?, ListTelling)? {
    var tracking: ProviderTracking?
    let next = state.withLock { state -> ((any CollectionMember)?, ListTelling)? in
      guard let index = state.index(of: member), state.members[index].isTold else { return nil }
      var telling: ListTelling?
      if state.members[index].tellings.isDue(number) {
        telling = state.members[index].tellings.popFirst()
      } else if state.members[index].tellings.isEmpty, state.members[index].frozen != nil {
        // It has been told of everything that made it too much.
        state.members[index].frozen?.reasons.remove(.limit)
        telling = state.thaw(index, tellsCommitted: tellsCommitted)
        tracking = state.members[index].tracking
      }
      guard let telling else { return nil }
      return (state.members[index].provider, telling)
    }
    tracking?.changedIsPaused()
    return next
  }
}

extension ListState {
  /// The edit that is to be told next; `nil` if there is none, or an update before it.
  fileprivate var nextEdit: UInt64? {
    var next: ListTelling?
    for member in members where member.isTold {
      guard let first = member.tellings.first else { continue }
      if next.map({ first.number < $0.number }) ?? true { next = first }
    }
    return next?.isEdit == true ? next?.number : nil
  }
}
