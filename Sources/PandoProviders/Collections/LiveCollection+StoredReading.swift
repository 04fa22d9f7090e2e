import PandoConsistency
import PandoSystem
import PandoModels

extension LiveCollection {
  /// Works out what stored elements that were read as a whole do to a list that shows others.
  ///
  /// On the pipeline. What is shown only stays; what somebody else has done since the stored elements were known is
  /// done to what is shown.
  ///
  /// - Parameters:
  ///   - elements: What was read.
  ///   - telling: How it is told.
  ///   - update: What else has happened.
  ///   - operations: The pending edits that it commits, in order.
  ///   - rows: The rows that hold something of the update.
  ///   - staged: What is shown.
  ///   - scope: Regenerates elements.
  /// - Returns: `false` if the elements are to be shown as they were read.
  func stageReadApart(
    _ elements: ReadElements<T>, _ telling: StagedList<T>.Telling, _ update: LiveUpdate,
    _ operations: [ListOperation<T>], rows: [LiveRow], _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) -> Bool {
    let (stored, isLoaded, old) = state.withLock { ($0.stored, $0.isLoaded, $0.committed) }
    guard var stored, stored.isApart else { return false }
    var shown = old
    for operation in operations { _ = shown.apply(operation.edit) }
    let base =
      stored.list.map { operations.reduce($0) { list, edit in list.applying(edit) } } ?? shown
    let allRows = base.rows(for: elements.models) { count in
      state.withLock { $0.takeRows(count) }
    }
    let (read, readShown) = (elements.stored(allRows), elements.shown(allRows))
    let changes =
      stored.list == nil ? [] : RowDifference.changes(from: base.rows, to: read.rows, updated: [])
    stored.list = read
    if !isLoaded {
      // Nothing has been set as a whole: what is shown only comes behind what was read.
      let isRead = Set(readShown.rows)
      let others = zip(shown.rows, shown.models).filter { !isRead.contains($0.0) }
      shown = LiveList(
        rows: readShown.rows + others.map(\.0), models: readShown.models + others.map(\.1))
      stageWhole(shown, since: old, telling, operations, isPresent: true, &staged, scope)
    } else if changes.isEmpty, operations.count <= 1 {
      let handled = operations.first.map { stage($0, nil, &staged, scope) } ?? []
      stageContents(rows.filter { !handled.contains($0) }, &staged, scope)
    } else {
      read.carryOut(changes, since: base, on: &shown)
      let isOld = Set(base.rows)
      for (row, model) in zip(readShown.rows, readShown.models) where !isOld.contains(row) {
        shown.replace(row, by: model)
      }
      shown.remove(Set(read.rows).subtracting(isOld).subtracting(readShown.rows))
      for (_, place) in shown.places(of: rows) {
        guard let new = scope.regenerate(shown.models[place])?.model as? T else { continue }
        shown.models[place] = new
      }
      stageWhole(shown, since: old, telling, operations, isPresent: true, &staged, scope)
    }
    placeShadows(&stored, nil, staged, scope)
    staged.stored = StoredChange(rows: stored)
    return true
  }
}

extension LiveList {
  /// The stored list after an edit of it.
  fileprivate func applying(_ operation: ListOperation<T>) -> LiveList<T> {
    guard let written = operation.written else { return self }
    var list = self
    let plan = operation.committedPlan ?? written.plan(in: rows)
    if plan.fits(rows.count) { _ = list.carryOut(written.fitted(to: plan, in: rows), plan) }
    return list
  }

  /// Does to a shown list what has led from an older stored list to this one.
  fileprivate func carryOut(
    _ changes: [CollectionChangeInformation], since old: LiveList<T>, on shown: inout LiveList<T>
  ) {
    let isOld = Set(old.rows)
    var contents: [Int: T] = [:]
    for (place, row) in rows.enumerated() where !isOld.contains(row) {
      contents[place] = models[place]
    }
    let script = ListScript(
      changes, contents, on: old.rows, newRows: rows.filter { !isOld.contains($0) })
    script?.shown(in: shown.rows, stored: old.rows, keeping: [])?.carryOut(on: &shown)
  }
}
