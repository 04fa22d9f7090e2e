import PandoConsistency
import PandoModels
import PandoSystem

/// Computes the change that an update makes to each member's list (``ToldView``).
///
/// The change is the difference between that list before and after the update. Members with the
/// same list share it. ``LiveCollection/publish(_:)`` makes an account before the update is
/// published, and calls ``tell(_:)`` after it, both under one lock of the collection.
struct ListAccount<T: SimpleModel> {
  /// A list before the update.
  private struct Before {
    let view: ToldView
    /// `nil` if the rows do not change, or if `hint` returns the change.
    ///
    /// An array kept here would be copied by the next change of the list.
    let rows: [LiveRow]?
    /// The models of `touched`, `nil` for rows that are not in the list; empty if `hint` returns the
    /// change.
    let models: [T?]
  }

  private let staged: StagedList<T>
  /// The rows whose contents may change, in ascending order.
  private let touched: [LiveRow]
  /// The pending edit that the update commits where the list already shows it.
  ///
  /// The positions of the shown list then stay the same.
  private let confirmed: PendingEdit<T>?
  private var lists: [Before] = []
  /// The index in `lists` for each member.
  private var indexes: [Int] = []
  /// The index in `lists` of the committed list, if it has observers.
  private var observed: Int?

  /// Saves the members' lists before the update is published.
  ///
  /// - Parameters:
  ///   - staged: The update.
  ///   - state: The state before it.
  ///   - tellsCommitted: As ``LiveCollection/tellsCommitted``.
  init(_ staged: StagedList<T>, _ state: ListState<T>, tellsCommitted: Bool) {
    self.staged = staged
    confirmed = state.confirmed(by: staged)
    touched = staged.touched
    for member in state.members {
      let view = state.view(
        of: member.viewer, ending: staged.operations, tellsCommitted: tellsCommitted)
      indexes.append(add(view, state))
    }
    if state.isObserved { observed = add(.committed, state) }
  }

  private mutating func add(_ view: ToldView, _ state: ListState<T>) -> Int {
    if let index = lists.firstIndex(where: { $0.view.isSame(as: view) }) { return index }
    let isKnown = hint(view) != nil
    lists.append(
      Before(
        view: view, rows: moves(view) && !isKnown ? state.rows(in: view) : nil,
        models: isKnown ? [] : state.models(of: touched, in: view)))
    return lists.count - 1
  }

  /// Returns true if the update may insert, remove or move rows in a list.
  private func moves(_ view: ToldView) -> Bool {
    if !staged.removed.isEmpty { return true }
    if case .none = staged.structure { return false }
    if case .shown = view { return confirmed == nil }
    return true
  }

  /// The change of a list, if it follows from the committed edit without a comparison; else `nil`.
  private func hint(_ view: ToldView) -> CollectionChange? {
    guard let confirmed, staged.contents.isEmpty, staged.removed.isEmpty else { return nil }
    switch view {
    case .committed: return confirmed.isSilent ? .changes([]) : confirmed.step.plan.change
    case .shown: return .changes([])
    case .own: return nil
    }
  }

  /// Queues the notifications of all members, and publishes the committed list to observers.
  ///
  /// Called after the update is published.
  func tell(_ state: inout ListState<T>) {
    state.tellingCount += 1
    let found = lists.map { change($0, state) }
    if let observed, let change = committedChange(found[observed]) {
      state.publish(change, context: staged.context)
    }
    if tellsNobody {
      for index in state.members.indices { state.members[index].tellings.noteGap() }
      return
    }
    let shared = found.map { ToldChange<T>($0.change) }
    for (member, index) in indexes.enumerated() {
      let telling = ListTelling(
        number: state.tellingCount, isEdit: false, change: shared[index], context: staged.context,
        date: staged.date)
      state.tell(
        telling, member: member, staged.collection.manager.limits,
        tellsCommitted: staged.collection.tellsCommitted)
    }
  }

  private var tellsNobody: Bool {
    if case .whole(let whole) = staged.structure { whole.telling == .nobody } else { false }
  }

  /// The change that observers of the committed list receive; `nil` if it does not change.
  private func committedChange(_ found: Found) -> CommittedChange? {
    switch staged.structure {
    case .failed, .resumed: nil
    default: CommittedChange(isReset: found.change == .reset || tellsNobody, updated: found.updated)
    }
  }

  /// The change of one list, and the rows with other contents.
  private typealias Found = (change: CollectionChange, updated: [LiveRow])

  private func change(_ before: Before, _ state: ListState<T>) -> Found {
    if isReset(before.view) { return (.reset, []) }
    if let hint = hint(before.view) {
      guard hint != .changes([]), case .update(let element, _)? = confirmed?.operation.edit
      else { return (hint, []) }
      return (hint, [element.row])
    }
    let rows = state.rows(in: before.view)
    let models = state.models(of: touched, in: before.view)
    let updated = touched.indices.filter { index in
      guard let old = before.models[index], let new = models[index] else { return false }
      return !new.isEqual(to: old)
    }.map { touched[$0] }
    return (.changes(Self.changes(from: before.rows ?? rows, to: rows, updated: updated)), updated)
  }

  /// Returns true if members with a list are notified of a reset, because the list was set as a whole.
  private func isReset(_ view: ToldView) -> Bool {
    switch staged.structure {
    case .whole(let whole): return whole.telling == .reset
    case .confirmed(let operation) where operation.determinesList:
      return !view.knows(operation) && !(confirmed?.isSilent ?? false)
    case .none, .confirmed, .failed, .script, .resumed: return false
    }
  }

  /// Returns the changes from one list to another.
  ///
  /// If rows were only updated or deleted, the changes go from high to low positions.
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
