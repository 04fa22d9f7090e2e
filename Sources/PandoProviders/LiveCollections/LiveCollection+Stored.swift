import PandoConsistency
import PandoModels
import PandoSystem

/// Staging of the stored elements, if they may differ from the shown ones. Pipeline.
///
/// If both are equal, there is no second list and none of this code runs.
extension LiveCollection {
  /// Returns the stored elements before an update, if they must be kept beside the committed ones.
  ///
  /// - Returns: `nil` if both are equal and stay so.
  func storedRows(
    before update: LiveUpdate, _ commit: CollectionCommit<T>?, _ operation: ListOperation<T>?,
    rows: [LiveRow], _ scope: PipelineScope
  ) -> StoredRows<T>? {
    guard isStored else { return nil }
    let isCached = isCached
    let isWritten = isWritten(update)
    // Three changes are not written: an unwritten edit, other contents over a cache, and a deletion
    // beside commits. An edit made while both lists differed may also have another position in each
    // of them.
    let parts =
      operation.map { $0.written == nil || !isCached && $0.mayBeAbsent }
      ?? (isCached && !isWritten && !rows.isEmpty || losesInMemory(rows, update)
        || commit?.models.contains { scope.hasVanished($0) } ?? false)
    return state.withLock { state in
      if var stored = state.stored {
        if parts { stored.isApart = true }
        return stored
      }
      if operation != nil {
        if parts { return StoredRows(list: state.storedList, isApart: true) }
        // The list is computed once, not once for each pending edit on top.
        guard isCached, state.pending.count > 1, let list = state.storedList else { return nil }
        return StoredRows(list: list, isApart: false)
      }
      guard parts, let list = state.storedList else { return nil }
      return StoredRows(list: list, isApart: true)
    }
  }

  /// Returns true if an update removes shown rows whose elements stay stored.
  private func losesInMemory(_ rows: [LiveRow], _ update: LiveUpdate) -> Bool {
    if update.departed == update.storedDeparted { return false }
    return state.withLock { $0.committedModels(of: rows) }.contains { _, model in
      guard let key = model.modelIdentifier.map({ ByteString($0) }) else { return false }
      return update.departed[key] != nil && update.storedDeparted[key] == nil
    }
  }

  /// Returns true if the update's changes are in the store or cache.
  private func isWritten(_ update: LiveUpdate) -> Bool {
    if update.changeSet != nil { return true }
    guard let operation = update.operation as? any ManagedOperation else { return !isCached }
    return operation.isWritten
  }

  /// Stages the stored elements after an update.
  ///
  /// - Parameters:
  ///   - stored: The stored elements, with the changes of a commit already applied.
  ///   - touched: The rows that the commit has changed.
  ///   - update: The update.
  ///   - operation: The pending edit that the update commits.
  ///   - rows: The rows that contain changed nodes.
  ///   - handled: The rows whose contents the operation or commit has set.
  ///   - staged: The staged change of the shown list.
  ///   - scope: Regenerates the elements.
  func stageStored(
    _ stored: StoredRows<T>, touched: Set<LiveRow>, _ update: LiveUpdate,
    _ operation: ListOperation<T>?, rows: [LiveRow], handled: Set<LiveRow>,
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    var stored = stored
    if let operation, operation.isWritten, case .set = operation.edit {
      // The edit sets both lists, so they are equal again.
      endStored(stored, &staged, scope)
      return
    }
    var touched = touched
    var isWhole = false
    if let operation {
      touched.formUnion(carryOut(operation, &stored, &staged))
      touched.formUnion(handled)
      if case .set = operation.edit { isWhole = true }
    }
    let isWritten = isWritten(update)
    var lost: Set<LiveRow> = []
    for (row, model) in staged.contents where !handled.contains(row) {
      touched.insert(row)
      if isWritten, stored.shadows[row] == nil { stored.list?.replace(row, by: model) }
    }
    for row in staged.removed {
      touched.insert(row)
      if isWritten, isCached, stored.shadows[row] == nil { lost.insert(row) }
    }
    if isWritten, !stored.shadows.isEmpty {
      for (row, shadow) in stored.shadows where rows.contains(shadow) {
        guard let model = stored.list?.model(of: row), let new = scope.regenerate(model)
        else { continue }
        touched.insert(row)
        if let new = new.model as? T {
          stored.list?.replace(row, by: new)
        } else if new.model == nil, isCached {
          lost.insert(row)
        }
      }
    }
    stored.list?.remove(lost)
    if !lost.isEmpty { noteLoss(update) }
    let isLast = operation != nil && state.withLock { $0.pending.count <= 1 }
    if !stored.isApart, isLast {
      staged.stored = StoredChange(rows: nil)
      return
    }
    if stored.isApart {
      placeShadows(&stored, isWhole ? nil : touched, staged, scope)
    }
    staged.stored = StoredChange(rows: stored)
  }

  /// Records the removal of stored elements whose models were deleted.
  func noteLoss(_ update: LiveUpdate) {
    (update.operation as? DeleteOperation)?.noteLoss(of: self)
  }

  /// Ends the separate list of stored elements, because it equals the shown one.
  func endStored(
    _ stored: StoredRows<T>, _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    for shadow in stored.shadows.values { scope.register(self, row: shadow, old: nil, new: nil) }
    staged.stored = StoredChange(rows: nil)
  }

  /// Applies a committed edit to the stored elements.
  ///
  /// - Returns: The rows that the edit affects.
  private func carryOut(
    _ operation: ListOperation<T>, _ stored: inout StoredRows<T>, _ staged: inout StagedList<T>
  ) -> Set<LiveRow> {
    guard let written = operation.written, let list = stored.list else { return [] }
    let expected = written.plan(in: list.rows)
    let plan = isCached ? expected : operation.committedPlan ?? .nothing
    staged.isStoredElsewhere = plan != expected
    guard plan.fits(list.rows.count) else {
      stored.list = nil
      return []
    }
    if plan == .nothing { return [] }
    let edit = written.fitted(to: plan, in: list)
    var touched = Set(edit.rows)
    if case .move(let from, _) = plan { touched.insert(list.rows[from]) }
    if let step = stored.list?.carryOut(edit, plan) { touched.formUnion(step.oldRows) }
    for (row, model) in staged.contents where touched.contains(row) {
      stored.list?.replace(row, by: model)
    }
    return touched
  }

  /// Registers stored elements under rows of their own if they differ from the shown ones.
  ///
  /// - Parameters:
  ///   - stored: The stored elements after the update.
  ///   - touched: The rows that may have changed; `nil` for all.
  ///   - staged: The staged change of the shown list.
  ///   - scope: Updates the registry.
  func placeShadows(
    _ stored: inout StoredRows<T>, _ touched: Set<LiveRow>?, _ staged: StagedList<T>,
    _ scope: PipelineScope
  ) {
    let touched = touched ?? Set(stored.list?.rows ?? []).union(stored.shadows.keys)
    if touched.isEmpty { return }
    var models: [LiveRow: T] = [:]
    if let list = stored.list {
      for (row, place) in list.places(of: touched.ordered()) { models[row] = list.models[place] }
    }
    let shown = state.withLock { state in staged.committed(touched.ordered(), &state) }
    for row in touched {
      let old = stored.shadows[row]
      if let model = models[row], !(shown[row]?.isEqual(to: model) ?? false) {
        let shadow = old ?? state.withLock { $0.takeRows(1) }[0]
        stored.shadows[row] = shadow
        scope.register(self, row: shadow, old: nil, new: model)
      } else if let old {
        stored.shadows[row] = nil
        scope.register(self, row: old, old: nil, new: nil)
      }
    }
  }
}

extension StagedList {
  /// Returns the shown contents of rows after the update; missing rows are left out.
  fileprivate func committed(_ rows: [LiveRow], _ state: inout ListState<T>) -> [LiveRow: T] {
    var found: [LiveRow: T] = [:]
    func find(_ list: LiveList<T>) {
      for (row, place) in list.places(of: rows) { found[row] = list.models[place] }
    }
    switch structure {
    case .whole(let whole): find(whole.list)
    case .own(let operation, _, let edit) where !isGone:
      if case .set(let list) = edit {
        find(list)
      } else {
        for (row, model) in state.committedModels(of: rows) { found[row] = model }
        let pending = state.pending.first { $0.operation === operation }
        for row in pending?.step.oldRows ?? [] { found[row] = nil }
        for (row, model) in zip(edit.rows, edit.models) { found[row] = model }
      }
    case .script(let script):
      for (row, model) in state.committedModels(of: rows) { found[row] = model }
      for (row, model) in script.models { found[row] = model }
      for row in script.deleted { found[row] = nil }
    case .none, .own, .failed, .resumed:
      for (row, model) in state.committedModels(of: rows) { found[row] = model }
    }
    for (row, model) in contents { found[row] = model }
    for row in removed { found[row] = nil }
    return found
  }
}

extension LiveList {
  /// Returns the model of a row; `nil` if the row is missing.
  func model(of row: LiveRow) -> T? { position(of: row).map { models[$0] } }

  /// Replaces the model of a row, if the row exists.
  mutating func replace(_ row: LiveRow, by model: T) {
    if let place = position(of: row) { models[place] = model }
  }

  /// Removes rows; missing rows are ignored.
  mutating func remove(_ gone: Set<LiveRow>) {
    if gone.isEmpty { return }
    for place in rows.indices.reversed() where gone.contains(rows[place]) {
      rows.remove(at: place)
      models.remove(at: place)
    }
  }
}
