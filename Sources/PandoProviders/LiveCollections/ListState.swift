import FoundationEssentials
import PandoConsistency
import PandoModels

/// An edit that is shown and not yet committed.
struct PendingEdit<T: SimpleModel>: Sendable {
  let operation: ListOperation<T>
  /// What it does to the list that the edits before it leave.
  var step: ListStep<T>

  /// Whether it leaves the list as the edits before it leave it, so that nobody is told.
  var isSilent: Bool {
    switch operation.edit {
    case .set(let list):
      LiveList(rows: step.oldRows, models: step.oldModels).isEqual(to: list.models)
    case .update(_, let model): step.oldModels.allSatisfy { $0.isEqual(to: model) }
    case .insert, .remove, .move: false
    }
  }
}

/// What all providers of one cache key share; guarded by the lock of ``LiveCollection``.
///
/// `list` is what is shown: the committed elements with all pending edits on top. There is no second
/// list of committed elements, as that would make every change twice as dear: the pending edits are
/// taken back when the committed elements change beneath them, and carried out again.
struct ListState<T: SimpleModel>: Sendable {
  var list = LiveList<T>() {
    didSet { version &+= 1 }
  }
  /// Tells the list from the one that it was before.
  private(set) var version: UInt64 = 0
  /// In the order in which they were made, which is the order in which they are committed.
  var pending: [PendingEdit<T>] = []
  /// In the order in which they joined: by ascending number.
  var members: [ListMember<T>] = []
  var lastMember: UInt64 = 0
  var rowNumbers = RowNumberSource()
  /// Whether the consistency manager knows the collection.
  var isAdded = false
  /// Whether nobody may join any more: it is being forgotten.
  var isRetired = false
  var lastUpdated: Date?
  /// Whether there is such a committed collection, be it without elements.
  var isCommittedPresent = false
  /// Whether the committed elements are known; else the store or cache has to be asked.
  var isLoaded = false
  /// The stored elements, where they may be others than the committed ones; changed on the pipeline.
  var stored: StoredRows<T>?
  /// The stored elements with the pending edits on top; made when it is asked for.
  var storedView: LiveList<T>?
  /// How many pending edits are not written.
  var unwrittenCount = 0
  /// Whether the committed elements are not those of the store, because these could not be read.
  var isOutOfStep = false
  /// Stored elements that can't be decoded, and are not shown.
  var hidden = HiddenElements()
  /// Whether something of a commit is shown that can't be read: what goes is not stored any more.
  var isUnread = false
  /// How many changes of the collection have been numbered for those who are told.
  var tellingCount: UInt64 = 0
  /// Whether somebody tells members at this moment.
  var isTelling = false
  /// How many members were paused because they have too much to be told.
  var limitHitCount = 0
  /// Who waits for the answer of the store or cache.
  var waiters: [ListWaiter<T>] = []
  /// Whether somebody has read what is shown in a way that can be tracked.
  var isTracked = false
  /// How many edits there have been.
  var editCount: UInt64 = 0

  /// Whether there is such a collection, as it is shown.
  var isPresent: Bool { isCommittedPresent || !pending.isEmpty }

  /// Whether a commit can't be understood without reading all elements.
  var needsWhole: Bool {
    !isLoaded || isOutOfStep || !hidden.isEmpty || (stored.map { $0.list == nil } ?? false)
  }

  /// Whether all elements are set by a pending edit.
  var isBeingSet: Bool {
    pending.contains { if case .set = $0.operation.edit { true } else { false } }
  }

  /// Takes all pending edits back, so that `list` is the committed one.
  mutating func rewind() {
    for edit in pending.reversed() { list.undo(edit.step) }
  }

  /// Carries all pending edits out again.
  mutating func replay() {
    for index in pending.indices { pending[index].step = list.apply(pending[index].operation.edit) }
  }

  /// The committed rows.
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

  /// Whether a member knows all pending edits.
  func allAreKnown(to viewer: ListViewer) -> Bool {
    pending.allSatisfy { viewer.knows($0.operation) }
  }

  /// The committed rows with those pending edits on top that a member knows.
  func rows(_ committed: [LiveRow], knownTo viewer: ListViewer) -> [LiveRow] {
    var rows = committed
    for pending in pending where viewer.knows(pending.operation) {
      let edit = pending.operation.edit
      _ = rows.carryOut(edit.plan(in: rows), edit.rows)
    }
    return rows
  }

  /// The list as a member's delegate knows it once it has been told everything.
  func told(to viewer: ListViewer, tellsCommitted: Bool) -> LiveList<T> {
    if !tellsCommitted || allAreKnown(to: viewer) { return list }
    var told = committed
    for edit in pending where viewer.knows(edit.operation) {
      _ = told.apply(edit.operation.edit)
    }
    return told
  }
}

/// Committed models.
extension ListState {
  /// Whether a pending edit says what a row contains.
  func isHidden(_ row: LiveRow) -> Bool { pending.contains { $0.operation.edit.sets(row) } }

  /// The committed models of rows, as far as they are there.
  ///
  /// - Parameter rows: In ascending order.
  /// - Returns: The rows that are there, in any order.
  func committedModels(of rows: [LiveRow]) -> [(row: LiveRow, model: T)] {
    var found: [(row: LiveRow, model: T)] = []
    var rest: [LiveRow] = []
    for row in rows {
      if let model = replacedModel(of: row) { found.append((row, model)) } else { rest.append(row) }
    }
    for (row, place) in list.places(of: rest) { found.append((row, list.models[place])) }
    return found
  }

  /// Puts new contents into committed rows, below the pending edits.
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

  /// The committed model of a row that a pending edit has replaced or removed.
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
