import PandoConsistency
import PandoModels
import PandoSystem

extension LiveCollection {
  /// Stages stored elements that were read as a whole, for a list that shows other elements.
  ///
  /// Pipeline. Elements that exist in the shown list only stay there. Changes of the stored list
  /// since its last read are applied to the shown list.
  ///
  /// - Parameters:
  ///   - elements: The elements that were read.
  ///   - telling: The kind of notification.
  ///   - update: The update.
  ///   - operations: The pending edits that the update commits, in order.
  ///   - rows: The rows that contain changed nodes.
  ///   - staged: The staged change of the shown list.
  ///   - scope: Regenerates elements.
  /// - Returns: `false` if the caller must show the elements as they were read.
  func stageReadApart(
    _ elements: ReadElements<T>, _ telling: StagedList<T>.Telling, _ update: LiveUpdate,
    _ operations: [ListOperation<T>], rows: [LiveRow], _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) -> Bool {
    guard var stored = storedRows(beside: operations, update) else { return false }
    let (isLoaded, old) = state.withLock { ($0.isLoaded, $0.committed) }
    var shown = old
    shown.carryOut(operations, of: update)
    var base = stored.list ?? (operations.contains(where: \.setsStored) ? LiveList() : nil)
    base?.carryOut(operations, of: update, update.storedDeparted) { $0.carryOutStored($1) }
    let allRows = (base ?? shown).rows(for: elements.models) { count in
      state.withLock { $0.takeRows(count) }
    }
    let (read, readShown) = (elements.stored(allRows), elements.shown(allRows))
    let changes =
      base.map { RowDifference.changes(from: $0.rows, to: read.rows, updated: []) } ?? []
    stored.list = read
    if !isLoaded, !operations.contains(where: \.determinesList) {
      // No edit has set the whole list, so elements that are only shown follow those that were
      // read.
      let isRead = Set(readShown.rows)
      let others = zip(shown.rows, shown.models).filter { !isRead.contains($0.0) }
      shown = LiveList(
        rows: readShown.rows + others.map(\.0), models: readShown.models + others.map(\.1))
      stageWhole(shown, since: old, telling, operations, isPresent: true, &staged, scope)
    } else if changes.isEmpty, operations.count <= 1, !update.hasDeparted(from: old, operations) {
      let handled = operations.first.map { stage($0, nil, &staged, scope) } ?? []
      stageContents(rows.filter { !handled.contains($0) }, &staged, scope)
    } else {
      let isOld = Set((base ?? shown).rows)
      if let base {
        read.carryOut(changes, since: base, on: &shown)
        for (row, model) in zip(readShown.rows, readShown.models) where !isOld.contains(row) {
          shown.replace(row, by: model)
        }
        shown.remove(Set(read.rows).subtracting(isOld).subtracting(readShown.rows))
      }
      shown.regenerate(Set(rows).union(operations.flatMap(\.edit.rows)), scope)
      stageWhole(shown, since: old, telling, operations, isPresent: true, &staged, scope)
      if !isCached, read.rows == shown.rows {
        endStored(stored, &staged, scope)
        return true
      }
    }
    placeShadows(&stored, nil, staged, scope)
    staged.stored = StoredChange(rows: stored)
    return true
  }

  /// Returns the stored elements that are kept beside the shown ones.
  ///
  /// - Parameters:
  ///   - operations: The pending edits that are committed with the read elements.
  ///   - update: The update.
  /// - Returns: `nil` if both lists are equal and stay so.
  private func storedRows(
    beside operations: [ListOperation<T>], _ update: LiveUpdate
  ) -> StoredRows<T>? {
    let parts =
      operations.contains { $0.written == nil || !isCached && $0.mayBeAbsent }
      || update.departed != update.storedDeparted
    return state.withLock { state in
      guard var stored = state.stored else {
        return parts ? StoredRows(list: state.storedList, isApart: true) : nil
      }
      stored.isApart = stored.isApart || parts
      return stored.isApart ? stored : nil
    }
  }
}

extension LiveUpdate {
  /// Returns true if the update deleted elements of a list or of edits, also if they exist again.
  fileprivate func hasDeparted<T: SimpleModel>(
    from list: LiveList<T>, _ operations: [ListOperation<T>]
  ) -> Bool {
    if departed.isEmpty { return false }
    return (list.models + operations.flatMap(\.edit.models)).contains { model in
      model.modelIdentifier.map { departed[ByteString($0)] != nil } ?? false
    }
  }
}

extension ListOperation {
  /// True if the edit alone determines the stored list.
  fileprivate var setsStored: Bool { isWritten && determinesList }
}

extension LiveList {
  /// Carries out an edit in a stored list.
  fileprivate mutating func carryOutStored(_ operation: ListOperation<T>) {
    guard let written = operation.written else { return }
    let plan = operation.committedPlan ?? written.plan(in: rows)
    if plan.fits(rows.count) { _ = carryOut(written.fitted(to: plan, in: self), plan) }
  }

  /// Applies the changes between an older stored list and this one to a shown list.
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
