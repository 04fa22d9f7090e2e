import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Publishes the committed elements of an update, below the pending edits.
  ///
  /// Queues the notifications of the members. Called on the pipeline, with the publishing lock held.
  ///
  /// - Returns: The number of the notifications.
  func publish(_ staged: StagedList<T>) -> UInt64 {
    state.withLock { state in
      if case .resumed(let member) = staged.structure { return resume(member, &state) }
      let account = ListAccount(staged, state, tellsCommitted: tellsCommitted)
      state.publish(staged)
      account.tell(&state)
      return state.tellingCount
    }
  }

  private func resume(_ member: UInt64, _ state: inout ListState<T>) -> UInt64 {
    guard let index = state.index(of: member) else { return 0 }
    if let telling = state.thaw(index, tellsCommitted: tellsCommitted) {
      let list = state.list.models
      state.members[index].tellings.append(telling) { list }
    }
    return state.tellingCount
  }
}

extension ListState {
  /// Changes the committed elements and keeps the pending edits on top.
  fileprivate mutating func publish(_ staged: StagedList<T>) {
    var isRead = false
    switch staged.structure {
    case .none, .resumed: break
    case .confirmed:
      // The edit is the lowest pending one, so the shown list stays as it is.
      pending.removeFirst()
      isCommittedPresent = true
    case .failed(let operation):
      rewind()
      pending.removeAll { $0.operation === operation }
      replay()
    case .script(let script):
      rewind()
      script.carryOut(on: &list)
      replay()
    case .whole(let whole):
      rewind()
      let ended = staged.operations
      pending.removeAll { edit in ended.contains { $0 === edit.operation } }
      list = whole.list
      replay()
      isRead = whole.isRead
      isCommittedPresent = whole.isPresent
    }
    for operation in staged.committed where operation.determinesList {
      isLoaded = true
      guard operation.isWritten else { continue }
      isOutOfStep = false
      if !isRead { hidden = HiddenElements() }
    }
    if isRead { (isLoaded, isOutOfStep) = (true, false) }
    if let stored = staged.stored { self.stored = stored }
    remove(staged.removed)
    setCommitted(staged.contents)
    if !staged.isEmpty { lastUpdated = staged.date }
  }

  /// Removes committed elements whose models were deleted.
  private mutating func remove(_ removed: [LiveRow]) {
    guard !removed.isEmpty else { return }
    rewind()
    let places = list.places(of: removed.ordered()).map(\.place)
    let plan = ListPlan.remove(places.joinedToRanges())
    _ = list.rows.carryOut(plan, [])
    _ = list.models.carryOut(plan, [])
    replay()
  }
}
