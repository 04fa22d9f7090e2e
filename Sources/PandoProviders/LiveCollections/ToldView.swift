import PandoConsistency
import PandoModels
import PandoSystem

/// The list that a member's delegate has after all its queued notifications.
///
/// Without a store, that is the shown list. With a store, it is the committed list with the member's
/// own pending edits on top. These are the edits that it made, and those that it showed when it
/// joined, when its pause ended, or when its delegate was set (``ListViewer``). The member is notified
/// of any other edit when the edit is committed.
enum ToldView {
  /// The committed list, which has no pending edit.
  case committed
  /// The shown list, which has all pending edits.
  case shown
  /// The committed list with the pending edits that the viewer has.
  case own(ListViewer)

  /// Returns true if both are the same list; `false` for any list of the case `own`.
  func isSame(as other: ToldView) -> Bool {
    switch (self, other) {
    case (.committed, .committed), (.shown, .shown): true
    default: false
    }
  }

  /// Returns true if the list has a given pending edit.
  func knows<T>(_ operation: ListOperation<T>) -> Bool {
    switch self {
    case .committed: false
    case .shown: true
    case .own(let viewer): viewer.knows(operation)
    }
  }
}

extension ListState {
  /// Returns the view of a member; it is valid before and after an update that ends pending edits.
  ///
  /// - Parameters:
  ///   - viewer: The member.
  ///   - ending: The pending edits that the update commits or undoes.
  ///   - tellsCommitted: As ``LiveCollection/tellsCommitted``.
  /// - Returns: The view.
  func view(
    of viewer: ListViewer, ending: [ListOperation<T>] = [], tellsCommitted: Bool
  ) -> ToldView {
    guard tellsCommitted else { return .shown }
    let known = pending.count { viewer.knows($0.operation) }
    let knownAfter = known - ending.count { viewer.knows($0) }
    if known == 0, knownAfter == 0 { return .committed }
    let isShown = known == pending.count && knownAfter == pending.count - ending.count
    return isShown ? .shown : .own(viewer)
  }

  func rows(in view: ToldView) -> [LiveRow] {
    switch view {
    case .shown: return list.rows
    case .committed: return committedRows
    case .own(let viewer):
      var rows = committedRows
      for edit in pending.map(\.operation) where viewer.knows(edit) {
        _ = rows.carryOut(edit.edit.plan(in: rows), edit.edit.rows)
      }
      return rows
    }
  }

  func list(in view: ToldView) -> LiveList<T> {
    switch view {
    case .shown: return list
    case .committed: return committed
    case .own(let viewer):
      var told = committed
      for edit in pending.map(\.operation) where viewer.knows(edit) { _ = told.apply(edit.edit) }
      return told
    }
  }

  /// Returns the models of rows in a list; the result may contain rows that are not in it.
  private func foundModels(of rows: [LiveRow], in view: ToldView) -> [(row: LiveRow, model: T)] {
    switch view {
    case .shown: return list.models(of: rows)
    case .committed: return committedModels(of: rows)
    case .own(let viewer):
      let edits = pending.map(\.operation).filter { viewer.knows($0) }.map(\.edit)
      return committedModels(of: rows) + edits.flatMap { Array(zip($0.rows, $0.models)) }
    }
  }

  /// Returns the models of rows in a list; `nil` for rows that are not in it.
  ///
  /// - Parameters:
  ///   - rows: In ascending order.
  ///   - view: The list.
  /// - Returns: The models.
  func models(of rows: [LiveRow], in view: ToldView) -> [T?] {
    var found: [T?] = Array(repeating: nil, count: rows.count)
    for (row, model) in foundModels(of: rows, in: view) {
      if let index = rows.binarySearch(for: row, by: \.self) { found[index] = model }
    }
    return found
  }

  /// True if the committed list has observers.
  var isObserved: Bool { members.contains { $0.observed != nil } }

  /// The pending edit that an update commits at its shown positions.
  func confirmed(by staged: StagedList<T>) -> PendingEdit<T>? {
    guard case .confirmed = staged.structure else { return nil }
    return pending.first
  }
}
