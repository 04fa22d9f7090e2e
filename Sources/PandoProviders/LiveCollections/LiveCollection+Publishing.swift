import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Publishes the committed elements of an update, below the pending edits.
  ///
  /// Called on the pipeline, with the publishing lock held.
  ///
  /// - Returns: The number of the members' notifications.
  func publish(_ staged: StagedList<T>) -> UInt64 {
    state.withLock { state in
      if case .resumed(let member) = staged.structure { return resume(member, &state) }
      let account = ListAccount(staged, state, tellsCommitted: tellsCommitted)
      state.publish(staged, isStored: isStored)
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
  fileprivate mutating func publish(_ staged: StagedList<T>, isStored: Bool) {
    let keepsView =
      confirmed(by: staged) != nil && staged.contents.isEmpty && staged.removed.isEmpty
      && !staged.isStoredElsewhere
    if isStored {
      for operation in staged.operations where !operation.isWritten {
        if pending.contains(where: { $0.operation === operation }) { unwrittenCount -= 1 }
      }
    }
    switch staged.structure {
    case .none, .resumed: break
    case .own(let operation, let plan, let edit): commit(operation, plan, edit)
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
      if !whole.operations.isEmpty {
        pending.removeAll { edit in whole.operations.contains { $0 === edit.operation } }
      }
      list = whole.list
      replay()
      if whole.isRead || whole.operations.contains(where: \.determinesList) { isLoaded = true }
      isCommittedPresent = whole.isPresent
    }
    if knowsStored(after: staged) { isOutOfStep = false }
    if let change = staged.stored { stored = change.rows }
    if !keepsView || !isApart { storedView = nil }
    remove(staged.removed)
    setCommitted(staged.contents)
    if !staged.isEmpty { lastUpdated = staged.date }
  }

  /// Commits a pending edit.
  private mutating func commit(
    _ operation: ListOperation<T>, _ plan: ListPlan?, _ edit: ListEdit<T>
  ) {
    guard let index = pending.firstIndex(where: { $0.operation === operation }) else { return }
    isCommittedPresent = true
    if operation.determinesList {
      isLoaded = true
      if operation.isWritten { hidden = HiddenElements() }
    }
    if index == 0, plan == nil || plan == pending[0].step.plan {
      // The edit is the lowest pending one, so the shown list stays as it is.
      pending.removeFirst()
      return
    }
    rewind()
    pending.remove(at: index)
    if let plan { _ = list.carryOut(edit, plan) } else { _ = list.apply(edit) }
    replay()
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

  /// Returns true if the update read or set all stored elements.
  private func knowsStored(after staged: StagedList<T>) -> Bool {
    if !isOutOfStep { return false }
    switch staged.structure {
    case .own(let operation, _, _) where operation.isWritten && operation.determinesList:
      return true
    case .whole(let whole): return whole.isRead
    default: return staged.stored?.rows?.list != nil
    }
  }
}
