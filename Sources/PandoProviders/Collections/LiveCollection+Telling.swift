import PandoConsistency
import PandoSystem
import PandoModels

/// Telling members' delegates, outside every lock.
extension LiveCollection {
  /// Tells members before this returns when the caller is where delegates are called, else soon.
  ///
  /// - Parameter actor: Who is just making a change, and hears of others behind that.
  func tellNow(except actor: UInt64? = nil) {
    let deliverer = manager.consistencyManager.deliverer
    if deliverer.isCurrent {
      for batch in tellMembers(except: actor) { batch.tell() }
    } else {
      deliverer.enqueue { for batch in self.tellMembers() { batch.tell() } }
    }
  }

  /// Tells members what they have not been told yet, on the delivery target.
  ///
  /// A delegate may change the collection: then the others are told of that too before its call
  /// returns, and each in the order of the changes.
  ///
  /// - Parameter actor: Who is not told now.
  /// - Returns: The batches of those who were told, each once.
  func tellMembers(except actor: UInt64? = nil) -> [BatchCore] {
    let waiting = state.withLock { state in
      state.members.filter { !$0.tellings.isEmpty && $0.isTold && $0.number != actor }
        .map(\.number)
    }
    var batches: [BatchCore] = []
    for member in waiting {
      while let (provider, telling) = nextTelling(of: member) {
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

  private func nextTelling(of member: UInt64) -> (CollectionDataProvider<T>?, ListTelling)? {
    var tracking: ProviderTracking?
    let next = state.withLock { state -> (CollectionDataProvider<T>?, ListTelling)? in
      guard let index = state.index(of: member), state.members[index].isTold else { return nil }
      if state.members[index].tellings.isEmpty, state.members[index].frozen != nil {
        // It has been told of everything that made it too much.
        _ = state.thaw(index, .limit, tellsCommitted: tellsCommitted)
        tracking = state.members[index].tracking
      }
      guard let telling = state.members[index].tellings.popFirst() else { return nil }
      return (state.members[index].provider, telling)
    }
    tracking?.changedIsPaused()
    return next
  }
}
