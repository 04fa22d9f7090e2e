import PandoConsistency
import PandoSystem
import PandoModels

extension LiveCollection {
  /// Shows what an update did to the committed elements, below the edits that are pending.
  ///
  /// Pipeline, while the publishing lock is held.
  func publish(_ staged: StagedList<T>) {
    state.withLock { state in
      let account = ListAccount(staged, state, tellsCommitted: tellsCommitted)
      state.publish(staged, isStored: cacheKey != nil && tellsCommitted)
      account.tell(&state)
      if let change = account.committedChange {
        state.publish(change, context: staged.context)
      }
    }
  }
}

extension ListState {
  /// Changes the committed elements and keeps the pending edits on top.
  fileprivate mutating func publish(_ staged: StagedList<T>, isStored: Bool) {
    switch staged.structure {
    case .none: break
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
      isLoaded = true
      isCommittedPresent = whole.isPresent
    }
    endDetachment(staged)
    remove(staged.removed, isStored: isStored)
    setCommitted(staged.contents)
    if !staged.isEmpty { lastUpdated = staged.date }
  }

  /// Makes a pending edit a committed one.
  private mutating func commit(
    _ operation: ListOperation<T>, _ plan: ListPlan?, _ edit: ListEdit<T>
  ) {
    guard let index = pending.firstIndex(where: { $0.operation === operation }) else { return }
    isCommittedPresent = true
    if operation.determinesList { isLoaded = true }
    if index == 0, plan == nil || plan == pending[0].step.plan {
      // It is shown below all others, where it belongs.
      pending.removeFirst()
      return
    }
    rewind()
    pending.remove(at: index)
    if let plan { _ = list.carryOut(edit, plan) } else { _ = list.apply(edit) }
    replay()
  }

  /// Removes committed elements whose models are deleted.
  private mutating func remove(_ removed: [LiveRow], isStored: Bool) {
    guard !removed.isEmpty else { return }
    rewind()
    let places = list.places(of: removed.sorted()).map(\.place)
    let plan = ListPlan.remove(places.joinedToRanges())
    _ = list.rows.carryOut(plan, [])
    _ = list.models.carryOut(plan, [])
    replay()
    hasUnsavedLoss = true
    // The store says itself what it loses: this was not written.
    if isStored { isDetached = true }
  }

  /// The committed elements are those of the store again once all of them were written or read.
  private mutating func endDetachment(_ staged: StagedList<T>) {
    guard isDetached || isOutOfStep else { return }
    let isStored =
      switch staged.structure {
      case .own(let operation, _, _): operation.storedEdit != nil && operation.determinesList
      case .whole: true
      case .none, .failed, .script: false
      }
    if isStored { isOutOfStep = false }
    if isDetached {
      isDetached = !isStored || pending.contains { $0.operation.storedEdit == nil }
    }
  }
}
