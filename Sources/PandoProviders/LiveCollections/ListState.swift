import FoundationEssentials
import PandoConsistency
import PandoModels

/// An edit that is shown and not yet committed.
struct PendingEdit<T: SimpleModel>: Sendable {
  let operation: ListOperation<T>
  /// The effect of the edit on the list that the edits before it leave.
  var step: ListStep<T>

  /// True if the edit does not change the list, so that no member is notified.
  var isSilent: Bool {
    switch operation.edit {
    case .set(let list):
      LiveList(rows: step.oldRows, models: step.oldModels).isEqual(to: list.models)
    case .update(_, let model): step.oldModels.allSatisfy { $0.isEqual(to: model) }
    case .insert, .remove, .move: false
    }
  }
}

/// The state that all providers of one cache key share; guarded by the lock of ``LiveCollection``.
///
/// - `list` is the shown list: the committed elements with all pending edits on top.
/// - There is no second array of committed elements, because it would double the cost of each
///   change. If the committed elements change, `rewind()` undoes the pending edits and `replay()`
///   carries them out again.
/// - `members` have the queued notifications. `tellingCount` numbers the notifications, `isTelling`
///   lets one thread send them, `limitHitCount` counts members that were paused by the limit.
/// - `stored` has the stored elements, if they differ from the committed ones.
/// - `isLoaded`, `isOutOfStep`, `isUnread` and `hidden` record what was read of the stored elements.
struct ListState<T: SimpleModel>: Sendable {
  var list = LiveList<T>() {
    didSet { version &+= 1 }
  }
  /// A number that changes with each change of `list`.
  private(set) var version: UInt64 = 0
  /// In the order in which they were made, which is also the order of their commits.
  var pending: [PendingEdit<T>] = []
  /// In the order in which they joined, so by ascending number.
  var members: [ListMember<T>] = []
  var lastMember: UInt64 = 0
  var rowNumbers = RowNumberSource()
  /// True if the collection was added to the consistency manager.
  var isAdded = false
  /// True if no provider may join any more, because the collection is being removed.
  var isRetired = false
  var lastUpdated: Date?
  /// True if the committed collection exists; it may be empty.
  var isCommittedPresent = false
  /// True if the committed elements are loaded from the store or cache.
  var isLoaded = false
  /// The stored elements; changed on the pipeline only.
  var stored = StoredElements<T>.asShown
  /// True if the store could not be read, so that the committed elements may differ from the stored
  /// ones.
  var isOutOfStep = false
  /// Stored elements that can't be decoded, and are not shown.
  var hidden = HiddenElements()
  /// True while an edit of this manager is shown whose commit could not be read.
  ///
  /// An element that is removed at that time was removed from the store too.
  var isUnread = false
  /// The number of the newest notification.
  var tellingCount: UInt64 = 0
  /// True while a thread notifies members.
  var isTelling = false
  /// The count of members that were paused by the limit of notifications since the last report.
  var limitHitCount = 0
  /// The callers that wait for the answer of the store or cache.
  var waiters: [ListWaiter<T>] = []
  /// True if a tracked read of the list took place.
  var isTracked = false
  /// The number of the newest edit.
  var editCount: UInt64 = 0

  /// True if the collection exists in the shown state.
  var isPresent: Bool { isCommittedPresent || !pending.isEmpty }

  /// True if a commit can be shown only after all elements are read.
  var needsWhole: Bool {
    if case .unread = stored { return true }
    return !isLoaded || isOutOfStep || !hidden.isEmpty
  }

  /// True if a pending edit sets all elements.
  var isBeingSet: Bool {
    pending.contains { if case .set = $0.operation.edit { true } else { false } }
  }

  /// True if the shown list has all elements; before the load it may have those of edits only.
  var isKnown: Bool { isLoaded || isBeingSet }

  /// Undoes all pending edits, so that `list` is the committed list.
  mutating func rewind() {
    for edit in pending.reversed() { list.undo(edit.step) }
  }

  /// Carries out all pending edits again.
  mutating func replay() {
    for index in pending.indices { pending[index].step = list.apply(pending[index].operation.edit) }
  }

  var committedRows: [LiveRow] {
    var rows = list.rows
    for edit in pending.reversed() { rows.undo(edit.step.plan, edit.step.oldRows) }
    return rows
  }

  /// The committed list; a copy if edits are pending.
  var committed: LiveList<T> {
    var list = list
    for edit in pending.reversed() { list.undo(edit.step) }
    return list
  }
}

/// Committed models.
extension ListState {
  /// Returns the committed models of rows; missing rows are left out.
  ///
  /// - Parameter rows: In ascending order.
  /// - Returns: The rows and models found, in any order.
  func committedModels(of rows: [LiveRow]) -> [(row: LiveRow, model: T)] {
    var found: [(row: LiveRow, model: T)] = []
    var rest: [LiveRow] = []
    for row in rows {
      if let model = replacedModel(of: row) { found.append((row, model)) } else { rest.append(row) }
    }
    return found + list.models(of: rest)
  }

  /// Sets new contents of committed rows, below the pending edits.
  ///
  /// - Parameter contents: In ascending order of the rows.
  mutating func setCommitted(_ contents: [(row: LiveRow, model: T)]) {
    guard !contents.isEmpty else { return }
    var rest: [(row: LiveRow, model: T)] = contents
    if !pending.isEmpty { rest.removeAll { replaceBelow($0.row, $0.model) } }
    for (index, place) in list.placesByIndex(of: rest.map(\.row)) {
      list.models[place] = rest[index].model
    }
  }

  /// Returns the committed model of a row that a pending edit has replaced or removed.
  private func replacedModel(of row: LiveRow) -> T? {
    for edit in pending {
      if let index = edit.step.oldRows.firstIndex(of: row) { return edit.step.oldModels[index] }
    }
    return nil
  }

  private mutating func replaceBelow(_ row: LiveRow, _ model: T) -> Bool {
    for index in pending.indices {
      guard let old = pending[index].step.oldRows.firstIndex(of: row) else { continue }
      pending[index].step.oldModels[old] = model
      return true
    }
    return false
  }
}
