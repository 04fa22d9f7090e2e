import PandoConsistency
import PandoModels

/// Computes the change of an update in the list that each member's delegate last received.
///
/// Without a store, that is the shown list. With a store, it is the committed list with the
/// member's own pending edits on top. Other members are notified of an edit when it is committed.
struct ListAccount<T: SimpleModel> {
  /// The list that a member's delegate last received.
  private enum View {
    /// The committed list: none of the pending edits is the member's own.
    case committed
    /// The shown list: all pending edits are the member's own.
    case shown
    /// The committed list with some of the pending edits on top, as rows before the update.
    case mixed([LiveRow], ListViewer)
  }

  private let staged: StagedList<T>
  private let tellsCommitted: Bool
  private var views: [View] = []
  private var shownBefore: [LiveRow] = []
  private var committedBefore: [LiveRow] = []
  /// The change of the committed edit to the committed list.
  private var ownChange = CollectionChange.changes([])
  /// True if positions in the shown list may have changed.
  private var movesShown = false

  /// Saves the lists that members have, before the update is published.
  init(_ staged: StagedList<T>, _ state: ListState<T>, tellsCommitted: Bool) {
    self.staged = staged
    self.tellsCommitted = tellsCommitted
    movesShown = !staged.removed.isEmpty
    switch staged.structure {
    case .none, .resumed: break
    case .own(let operation, let plan, _): takeDown(operation, plan, state)
    case .failed, .script, .whole: movesShown = true
    }
    // A retained array of rows makes the next change copy it, so it is kept only if it is needed.
    if movesShown { shownBefore = state.list.rows }
    if tellsCommitted {
      takeDownViews(state)
    } else {
      views = Array(repeating: .shown, count: state.members.count)
    }
  }

  private mutating func takeDown(
    _ operation: ListOperation<T>, _ plan: ListPlan?, _ state: ListState<T>
  ) {
    guard let index = state.pending.firstIndex(where: { $0.operation === operation }) else {
      return
    }
    let pending = state.pending[index]
    let isInPlace = index == 0 && (plan == nil || plan == pending.step.plan)
    if !isInPlace { movesShown = true }
    if isInPlace {
      if pending.isSilent { return }
      ownChange = pending.step.plan.change
    } else {
      ownChange = (plan ?? operation.edit.plan(in: state.committedRows)).change
    }
  }

  private mutating func takeDownViews(_ state: ListState<T>) {
    let ending = staged.operations
    let countAfter = state.pending.count - ending.count
    let needsCommitted = movesShown || !staged.contents.isEmpty
    var rows: [LiveRow]?
    for member in state.members {
      let viewer = member.viewer
      let known = state.pending.count { viewer.knows($0.operation) }
      let knownAfter = known - ending.count { viewer.knows($0) }
      if known == 0, knownAfter == 0 {
        if needsCommitted, rows == nil { rows = state.committedRows }
        views.append(.committed)
      } else if known == state.pending.count, knownAfter == countAfter {
        views.append(.shown)
      } else {
        if rows == nil { rows = state.committedRows }
        views.append(.mixed(state.rows(rows ?? [], knownTo: viewer), viewer))
      }
    }
    committedBefore = rows ?? []
  }

  /// Queues the notifications of all members.
  func tell(_ state: inout ListState<T>) {
    state.tellingCount += 1
    if tellsNobody {
      for index in state.members.indices { state.members[index].tellings.noteGap() }
      return
    }
    var committed: ToldChange<T>?
    var shown: ToldChange<T>?
    for (index, view) in views.enumerated() {
      let change: ToldChange<T>
      switch view {
      case .committed:
        change = committed ?? ToldChange(committedChange(state))
        committed = change
      case .shown:
        change = shown ?? ToldChange(shownChange(state))
        shown = change
      case .mixed(let before, let viewer):
        change = ToldChange(mixedChange(from: before, viewer, state))
      }
      let telling = ListTelling(
        number: state.tellingCount, isEdit: false, change: change, context: staged.context,
        date: staged.date)
      state.tell(
        telling, member: index, staged.collection.manager.limits, tellsCommitted: tellsCommitted)
    }
  }
}

/// The changes between the lists before and after the update.
extension ListAccount {
  /// The change of the update to the committed list; `nil` if it does not change.
  var committedChange: CommittedChange? {
    switch staged.structure {
    case .failed, .resumed: nil
    case .whole(let whole): CommittedChange(isReset: whole.telling != .difference)
    case .none, .script: CommittedChange(updated: updated)
    case .own where ownChange == .changes([]): CommittedChange(updated: updated)
    case .own: CommittedChange(isReset: ownChange == .reset, updated: updated + editedRows)
    }
  }

  private var isReset: Bool {
    if case .whole(let whole) = staged.structure { whole.telling == .reset } else { false }
  }

  private var tellsNobody: Bool {
    if case .whole(let whole) = staged.structure { whole.telling == .nobody } else { false }
  }

  /// Rows with new contents that were neither moved nor removed.
  private var updated: [LiveRow] {
    let contents = staged.contents.map(\.row)
    switch staged.structure {
    case .script(let script): return contents + script.updated
    case .whole(let whole): return contents + whole.updated
    case .own(let operation, _, .update(let row, _)) where movesShown:
      // The edit changed another one of several elements with one identifier. Both rows have other
      // contents.
      return contents + operation.edit.rows + [row]
    case .none, .own, .failed, .resumed: return contents
    }
  }

  /// Rows whose new contents equal those of the committed edit.
  ///
  /// A member that had the edit before the commit needs no notification for them.
  private var asAsked: Set<LiveRow> {
    if case .whole(let whole) = staged.structure { whole.asAsked } else { [] }
  }

  /// Rows whose contents return to those before a failed edit.
  ///
  /// Only members that had the edit are notified of them.
  private var takenBack: [LiveRow] {
    if case .failed(let operation) = staged.structure { operation.edit.rows } else { [] }
  }

  private func shownChange(_ state: ListState<T>) -> CollectionChange {
    if isReset { return .reset }
    if updated.isEmpty, !movesShown { return .changes([]) }
    let known = asAsked
    let updated = (updated + takenBack).filter { !state.isHidden($0) && !known.contains($0) }
    return .changes(
      Self.changes(
        from: movesShown ? shownBefore : state.list.rows, to: state.list.rows, updated: updated))
  }

  private func committedChange(_ state: ListState<T>) -> CollectionChange {
    if isReset || ownChange == .reset { return .reset }
    if updated.isEmpty, staged.removed.isEmpty, case .own = staged.structure { return ownChange }
    guard case .changes(let own) = ownChange, own.isEmpty else {
      // The edit was committed as requested, and the update has further changes.
      let change = Self.changes(
        from: committedBefore, to: state.committedRows, updated: updated + editedRows)
      return .changes(change)
    }
    if case .script(let script) = staged.structure, !script.onlyLoses,
      staged.contents.isEmpty, staged.removed.isEmpty
    {
      return .changes(script.changes)
    }
    let after = movesShown ? state.committedRows : committedBefore
    return .changes(Self.changes(from: committedBefore, to: after, updated: updated))
  }

  private func mixedChange(
    from before: [LiveRow], _ viewer: ListViewer, _ state: ListState<T>
  ) -> CollectionChange {
    let isKnown = staged.operations.contains { viewer.knows($0) }
    if isReset || (ownChange == .reset && !isKnown) { return .reset }
    let after = state.rows(state.committedRows, knownTo: viewer)
    let asAsked = staged.operations.allSatisfy { viewer.knows($0) } ? asAsked : []
    let updated = (updated + (isKnown ? takenBack : editedRows)).filter { row in
      !asAsked.contains(row)
        && !state.pending.contains { viewer.knows($0.operation) && $0.operation.edit.sets(row) }
    }
    return .changes(RowDifference.changes(from: before, to: after, updated: updated))
  }

  /// The row that the committed edit has updated.
  private var editedRows: [LiveRow] {
    guard case .own(_, _, .update(let row, _)) = staged.structure
    else { return [] }
    return [row]
  }

  /// Returns the changes from one list to another.
  ///
  /// Updates and deletions alone are listed from high to low positions; other changes as a
  /// difference.
  private static func changes(
    from old: [LiveRow], to new: [LiveRow], updated: [LiveRow]
  ) -> [CollectionChangeInformation] {
    if old == new { return RowDifference.changes(in: old, deleted: [], updated: updated) }
    var deleted: [LiveRow] = []
    var kept = 0
    for row in old {
      if kept < new.count, new[kept] == row { kept += 1 } else { deleted.append(row) }
    }
    // All rows of the new list were found in order, so no row was inserted or moved.
    if kept == new.count {
      return RowDifference.changes(in: old, deleted: deleted, updated: updated)
    }
    return RowDifference.changes(from: old, to: new, updated: updated)
  }
}
