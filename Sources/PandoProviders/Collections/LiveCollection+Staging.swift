import PandoConsistency
import PandoSystem
import PandoModels
import PandoStore

extension LiveCollection {
  func commit(
    _ change: CollectionChange, _ content: ListContent?, _ operation: (any ManagedOperation)?
  ) -> (any Sendable)? {
    let needsWhole = state.withLock { $0.needsWhole }
    if let own = operation as? ListOperation<T>, own.collection === self {
      return !needsWhole || own.determinesList ? CollectionCommit<T>.own : nil
    }
    return needsWhole ? nil : CollectionCommit<T>(change, content)
  }

  func read(
    _ changes: [CollectionChange]?, _ operations: [any ManagedOperation],
    in snapshot: ModelSnapshot
  ) throws -> any Sendable {
    guard let cacheKey else { return CollectionCommit<T>.own }
    let needsWhole = state.withLock { $0.needsWhole }
    let isEdited = operations.contains { ($0 as? ListOperation<T>)?.collection === self }
    do {
      guard needsWhole || isEdited else {
        return try CollectionCommit<T>(changes, cacheKey, in: snapshot)
      }
      return CollectionCommit<T>.whole(
        try snapshot.elements(cacheKey, as: T.self),
        isReset: !isEdited && changes?.contains(.reset) ?? true)
    } catch {
      state.withLock { $0.isOutOfStep = true }
      throw error
    }
  }

  /// Edits of this list among the operations of an update, as far as they are shown.
  private func pendingOperations(_ operations: [any LiveOperation]) -> [ListOperation<T>] {
    let own = operations.compactMap { $0 as? ListOperation<T> }
    if own.isEmpty { return [] }
    return state.withLock { state in
      own.filter { operation in state.pending.contains { $0.operation === operation } }
    }
  }


  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    var staged = StagedList(self, update)
    let operations = pendingOperations(update.operations)
    let commit = cacheKey.flatMap { update.topics[ByteString($0)] as? CollectionCommit<T> }
    var handled: Set<LiveRow> = []
    switch (commit, operations.last) {
    case (.whole(let models, let isReset), _):
      stage(models, isReset ? .reset : .difference, operations, &staged, scope)
      return staged
    case (.changes(let changes, let models), nil):
      if let list = listWithReturning(changes, models, rows, scope) {
        stage(list, .difference, [], &staged, scope)
        return staged
      }
      handled = stage(changes, models, &staged, scope)
    case (_, let operation?): handled = stage(operation, &staged, scope)
    case (_, nil): break
    }
    stageContents(handled.isEmpty ? rows : rows.filter { !handled.contains($0) }, &staged, scope)
    return staged.isEmpty ? nil : staged
  }

  /// Works out what becomes of committed elements that hold something of the update.
  private func stageContents(
    _ rows: [LiveRow], _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    guard !rows.isEmpty else { return }
    for (row, model) in state.withLock({ $0.committedModels(of: rows) }) {
      guard let regeneration = scope.regenerate(model) else { continue }
      if let new = regeneration.model as? T {
        staged.contents.append((row, new))
        scope.register(self, row: row, old: model, new: new)
      } else if regeneration.model == nil {
        staged.removed.append(row)
        scope.register(self, row: row, old: model, new: nil)
      }
    }
    staged.contents.sort { $0.row < $1.row }
  }

  /// Works out what a pending edit has done to the committed elements.
  ///
  /// - Returns: The rows that it was about.
  private func stage(
    _ operation: ListOperation<T>, _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) -> Set<LiveRow> {
    let plan = operation.committedPlan
    guard let step = state.withLock({ $0.committedStep(of: operation, plan) }) else {
      // Never seen: the committed list is not the stored one, so it is read again.
      staged.structure = .failed(operation)
      reload()
      return []
    }
    if let whole = operation.whole, step.isElsewhere(whole.rows) {
      // The committed list was another one when this was shown, and all of it was written.
      return stage(whole, operation, &staged, scope)
    }
    staged.structure = .own(operation, plan, step.edit)
    if step.step.plan == .nothing {
      manager.reporter.report(
        .failedWrite(
          DataProviderError.gone(cacheKey ?? ""), of: operation.subjects,
          context: operation.context))
      return []
    }
    let old = LiveList(rows: step.step.oldRows, models: step.step.oldModels)
    var new = LiveList(rows: step.edit.rows, models: step.edit.models)
    for index in new.rows.indices {
      // What else the update carries may say more of a node, as another type or as stored.
      guard let model = scope.regenerate(new.models[index])?.model as? T else { continue }
      new.models[index] = model
      staged.contents.append((new.rows[index], model))
    }
    register(from: old, to: new, scope)
    return Set(old.rows + new.rows)
  }

  private func stage(
    _ whole: LiveList<T>, _ operation: ListOperation<T>, _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) -> Set<LiveRow> {
    let old = state.withLock { $0.committed }
    staged.structure = .whole(
      StagedList.Whole(
        list: whole, updated: whole.updatedRows(since: old) + operation.edit.rows, isPresent: true,
        telling: .difference, operations: [operation]))
    register(from: old, to: whole, scope)
    return Set(old.rows + whole.rows)
  }

  /// Works out what somebody else's commit has done to the committed elements.
  ///
  /// - Returns: The rows whose contents are known by that.
  private func stage(
    _ changes: [CollectionChangeInformation], _ models: [Int: T],
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) -> Set<LiveRow> {
    let count = changes.count { if case .insert = $0 { true } else { false } }
    let (committed, newRows, needsWhole) = state.withLock { state in
      (state.committedRows, state.takeRows(count), state.needsWhole)
    }
    guard !needsWhole, let script = ListScript(changes, models, on: committed, newRows: newRows)
    else {
      reload()
      return []
    }
    let touched = script.deleted.union(script.updated).subtracting(script.inserted)
    let old = state.withLock { $0.committedModels(of: touched.sorted()) }
    for (row, model) in old where script.deleted.contains(row) || script.models[row] != nil {
      let new = script.deleted.contains(row) ? nil : script.models[row]
      scope.register(self, row: row, old: model, new: new)
    }
    for row in script.inserted {
      if let model = script.models[row] { scope.register(self, row: row, old: nil, new: model) }
    }
    staged.structure = .script(script)
    return touched
  }

  /// Works out what a list that was read as a whole does to the committed elements.
  func stage(
    _ models: [T]?, _ telling: StagedList<T>.Telling, _ operations: [ListOperation<T>],
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    let (old, new) = state.withLock { state in
      let old = state.committed
      var base = old
      for operation in operations { _ = base.apply(operation.edit) }
      let models = models ?? []
      let rows = base.rows(for: models) { state.takeRows($0) }
      return (old, LiveList(rows: rows, models: models))
    }
    staged.structure = .whole(
      StagedList.Whole(
        list: new, updated: new.updatedRows(since: old) + operations.flatMap(\.edit.rows),
        isPresent: models != nil, telling: telling, operations: operations))
    register(from: old, to: new, scope)
  }

  /// Replaces rows in the registry.
  private func register(from old: LiveList<T>, to new: LiveList<T>, _ scope: PipelineScope) {
    if old.rows == new.rows {
      for index in old.rows.indices {
        scope.register(
          self, row: old.rows[index], old: old.models[index], new: new.models[index])
      }
      return
    }
    var gone: [LiveRow: T] = [:]
    for (row, model) in zip(old.rows, old.models) { gone[row] = model }
    for (row, model) in zip(new.rows, new.models) {
      scope.register(self, row: row, old: gone.removeValue(forKey: row), new: model)
    }
    for row in old.rows {
      guard let model = gone[row] else { continue }
      scope.register(self, row: row, old: model, new: nil)
    }
  }
}

extension ListOperation {
  /// Whether the committed list is known by this edit alone.
  var determinesList: Bool {
    if whole != nil { return true }
    if case .set = edit { return true }
    return false
  }
}

/// What an edit does to the committed list.
struct CommittedStep<T: SimpleModel> {
  let edit: ListEdit<T>
  let step: ListStep<T>
  /// The rows after it; `nil` if it is carried out where it is shown.
  let rows: [LiveRow]

  func isElsewhere(_ whole: [LiveRow]) -> Bool { rows != whole }
}

extension ListState {
  /// What a pending edit does to the committed list, where its places there may be known.
  fileprivate func committedStep(
    of operation: ListOperation<T>, _ plan: ListPlan?
  ) -> CommittedStep<T>? {
    guard let index = pending.firstIndex(where: { $0.operation === operation }) else { return nil }
    if index == 0, plan == nil || plan == pending[0].step.plan {
      guard operation.whole != nil else {
        return CommittedStep(edit: operation.edit, step: pending[0].step, rows: [])
      }
    }
    var list = committed
    guard let plan else {
      let step = list.apply(operation.edit)
      return CommittedStep(edit: operation.edit, step: step, rows: list.rows)
    }
    guard plan.fits(list.rows.count) else { return nil }
    let edit = operation.edit.fitted(to: plan, in: list.rows)
    let step = list.carryOut(edit, plan)
    return CommittedStep(edit: edit, step: step, rows: list.rows)
  }
}
