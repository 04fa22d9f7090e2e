import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

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

  func beginUnread() { state.withLock { $0.isUnread = true } }

  func endUnread(isChanged: Bool) {
    state.withLock { state in
      state.isUnread = false
      if isChanged { state.isOutOfStep = true }
    }
  }

  /// Marks the list as out of step if elements are removed during a commit that can't be read.
  ///
  /// - Returns: `false` if there is no such commit.
  private func noteUnreadLoss() -> Bool {
    state.withLock { state in
      if state.isUnread { state.isOutOfStep = true }
      return state.isUnread
    }
  }

  /// Returns the pending edits of this list among the operations of an update.
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
    let operation = operations.last
    let commit = cacheKey.flatMap { update.topics[ByteString($0)] as? CollectionCommit<T> }
    if case .whole(let models, let isReset) = commit {
      stageRead(
        overlaid(models, update, scope), isReset ? .reset : .difference, update, operations,
        rows: rows, &staged, scope)
      return staged
    }
    if operations.count > 1 || !isStored && !operations.isEmpty && !update.departed.isEmpty {
      stage(operations, update, rows: rows, &staged, scope)
      return staged
    }
    var stored = storedRows(before: update, commit, operation, rows: rows, scope)
    var handled: Set<LiveRow> = []
    var touched: Set<LiveRow> = []
    switch (commit, operation) {
    case (.changes(let changes, let read), nil):
      let models = overlaid(read, update, scope)
      if stored == nil, let list = listWithReturning(changes, models, rows, scope) {
        stage(ReadElements(list), .difference, [], &staged, scope)
        return staged
      }
      (handled, touched) = stage(changes, models, update, &stored, &staged, scope)
    case (_, let operation?):
      handled = stage(
        operation, stored == nil ? operation.committedPlan : nil, &staged, scope)
    default: break
    }
    var rows = handled.isEmpty ? rows : rows.filter { !handled.contains($0) }
    if !update.departed.isEmpty {
      let departed = stageDeparted(
        rows, update, besides: isStored && stored == nil ? update.storedDeparted : [:], &staged,
        scope)
      rows.removeAll { departed.contains($0) }
    }
    stageContents(rows, &staged, scope)
    if stored == nil, isStored, !staged.removed.isEmpty {
      if isCached {
        noteLoss(update)
      } else if !noteUnreadLoss() {
        // The store reports its own deletions. This removal was not written, so the stored list is
        // kept apart.
        stored = StoredRows(list: state.withLock { $0.storedList }, isApart: true)
      }
    }
    if let stored,
      operation != nil || !touched.isEmpty || !staged.isEmpty || !stored.shadows.isEmpty
    {
      stageStored(
        stored, touched: touched, update, operation, rows: rows, handled: handled, &staged, scope)
    }
    return staged.isEmpty ? nil : staged
  }

  /// Stages elements that were read as a whole.
  func stageRead(
    _ read: ReadElements<T>, _ telling: StagedList<T>.Telling, _ update: LiveUpdate,
    _ operations: [ListOperation<T>], rows: [LiveRow], _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) {
    if case .reset = telling {
    } else if stageReadApart(read, telling, update, operations, rows: rows, &staged, scope) {
      return
    }
    stage(read, telling, operations, &staged, scope)
  }

  /// Stages new contents of committed elements that contain changed nodes.
  func stageContents(
    _ rows: [LiveRow], _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    for (row, model) in state.withLock({ $0.committedModels(of: rows) }) {
      guard let regeneration = scope.regenerate(model, isConcerned: true) else { continue }
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

  /// Stages the removal of committed elements that were deleted in between.
  ///
  /// Used where the shown elements differ from the stored ones.
  ///
  /// - Returns: The rows of the elements.
  private func stageDeparted(
    _ rows: [LiveRow], _ update: LiveUpdate, besides others: [ByteString: [Int]],
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) -> Set<LiveRow> {
    var departed: Set<LiveRow> = []
    for (row, model) in state.withLock({ $0.committedModels(of: rows) }) {
      guard let identifier = model.modelIdentifier.map({ ByteString($0) }),
        update.departed[identifier] != nil, others[identifier] == nil
      else { continue }
      departed.insert(row)
      staged.removed.append(row)
      scope.register(self, row: row, old: model, new: nil)
    }
    return departed
  }

  /// Stages the commit of a pending edit.
  ///
  /// - Parameters:
  ///   - operation: The edit.
  ///   - plan: The positions of the edit; `nil` to compute them from the current list.
  ///   - staged: The staged change of the shown list.
  ///   - scope: Regenerates the elements.
  /// - Returns: The rows that the edit affects.
  func stage(
    _ operation: ListOperation<T>, _ plan: ListPlan?, _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) -> Set<LiveRow> {
    guard let step = state.withLock({ $0.committedStep(of: operation, plan) }) else {
      // The plan does not fit, so the committed list differs from the stored one. It is read again.
      staged.structure = .failed(operation)
      reload(scope)
      return []
    }
    staged.structure = .own(operation, plan, step.edit)
    if step.step.plan == .nothing {
      staged.isGone = true
      operation.noteAbsence()
      return []
    }
    let old = LiveList(rows: step.step.oldRows, models: step.step.oldModels)
    var new = LiveList(rows: step.edit.rows, models: step.edit.models)
    for index in new.rows.indices {
      // The update may carry newer data of a node, in another type or as stored.
      guard let model = scope.regenerate(new.models[index])?.model as? T else { continue }
      new.models[index] = model
      staged.contents.append((new.rows[index], model))
    }
    register(from: old, to: new, scope)
    return Set(old.rows + new.rows)
  }

  /// Stages the commit of several pending edits, without reading the list.
  private func stage(
    _ operations: [ListOperation<T>], _ update: LiveUpdate, rows: [LiveRow],
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    let old = state.withLock { $0.committed }
    var shown = old
    shown.carryOut(operations, of: update)
    shown.regenerate(Set(rows).union(operations.flatMap(\.edit.rows)), scope)
    stageWhole(
      shown, since: old, .difference, operations, isPresent: true, isRead: false, &staged, scope)
  }

  /// Stages a commit that is not an edit of this collection.
  ///
  /// - Returns: `handled` rows have their staged contents; `touched` rows may differ from their
  ///   stored contents.
  private func stage(
    _ changes: [CollectionChangeInformation], _ models: [Int: T], _ update: LiveUpdate,
    _ stored: inout StoredRows<T>?, _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) -> (handled: Set<LiveRow>, touched: Set<LiveRow>) {
    let count = changes.count { if case .insert = $0 { true } else { false } }
    let (committed, newRows, needsWhole) = state.withLock { state in
      (state.committedRows, state.takeRows(count), state.needsWhole)
    }
    let storedRows = stored?.list?.rows ?? committed
    guard !needsWhole,
      let storedScript = ListScript(changes, models, on: storedRows, newRows: newRows),
      let script = stored == nil
        ? storedScript
        : storedScript.shown(
          in: committed, stored: storedRows, keeping: rowsOfOthers(stored, update))
    else {
      reload(scope)
      return ([], [])
    }
    let handled = script.deleted.union(script.updated).subtracting(script.inserted)
    let old = state.withLock { $0.committedModels(of: handled.ordered()) }
    for (row, model) in old where script.deleted.contains(row) || script.models[row] != nil {
      let new = script.deleted.contains(row) ? nil : script.models[row]
      scope.register(self, row: row, old: model, new: new)
    }
    for row in script.inserted {
      guard let model = script.models[row] else { continue }
      if scope.hasVanished(model) {
        staged.removed.append(row)
      } else {
        scope.register(self, row: row, old: nil, new: model)
      }
    }
    staged.structure = .script(script)
    guard var list = stored?.list else { return (handled, handled) }
    storedScript.carryOut(on: &list)
    for row in storedScript.updated {
      if let model = storedScript.models[row] { list.replace(row, by: model) }
    }
    stored?.list = list
    let touched = handled.union(storedScript.deleted).union(storedScript.updated)
    return (handled, touched.union(storedScript.inserted))
  }

  /// Returns rows whose stored element was deleted, while they show another element.
  private func rowsOfOthers(_ stored: StoredRows<T>?, _ update: LiveUpdate) -> Set<LiveRow> {
    guard let stored, !stored.shadows.isEmpty, !update.deleted.isEmpty else { return [] }
    func isDeleted(_ model: T?) -> Bool {
      model?.modelIdentifier.map { update.deleted.contains(ByteString($0)) } ?? false
    }
    let shown = state.withLock { $0.committedModels(of: stored.shadows.keys.ordered()) }
    return Set(
      shown.compactMap { row, model in
        !isDeleted(model) && isDeleted(stored.list?.model(of: row)) ? row : nil
      })
  }

  /// Stages a list that was read as a whole.
  private func stage(
    _ read: ReadElements<T>, _ telling: StagedList<T>.Telling, _ operations: [ListOperation<T>],
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    let (old, rows, stored) = state.withLock { state in
      let old = state.committed
      var base = old
      for operation in operations { _ = base.apply(operation.edit) }
      return (old, base.rows(for: read.models) { state.takeRows($0) }, state.stored)
    }
    stageWhole(
      read.shown(rows), since: old, telling, operations, isPresent: read.isPresent, &staged, scope)
    // Over a store, `placeShadows` finds differing contents by comparison. Only uneven lists are
    // kept apart.
    if isStored, read.isUneven || (read.differs && isCached) {
      var new = StoredRows(
        list: read.stored(rows), isApart: true, shadows: stored?.shadows ?? [:])
      placeShadows(&new, nil, staged, scope)
      staged.stored = StoredChange(rows: new)
    } else if let stored {
      endStored(stored, &staged, scope)
    }
  }

  /// Stages the replacement of all committed elements.
  func stageWhole(
    _ new: LiveList<T>, since old: LiveList<T>, _ telling: StagedList<T>.Telling,
    _ operations: [ListOperation<T>], isPresent: Bool, isRead: Bool = true,
    _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) {
    staged.structure = .whole(
      StagedList.Whole(
        list: new, updated: new.updatedRows(since: old) + operations.flatMap(\.edit.rows),
        isPresent: isPresent, isRead: isRead, telling: telling, operations: operations))
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

extension LiveList {
  /// Carries out pending edits of a shown list, with the update's deletions between them.
  mutating func carryOut(_ operations: [ListOperation<T>], of update: LiveUpdate) {
    carryOut(operations, of: update, update.departed) { list, operation in
      if list.apply(operation.edit).plan == .nothing { operation.noteAbsence() }
    }
  }

  /// Carries out pending edits by a closure, with deletions between them.
  ///
  /// - Parameters:
  ///   - operations: The edits.
  ///   - update: The update that contains the edits.
  ///   - departed: The deleted nodes, each with the counts of operations that precede its
  ///     deletions.
  ///   - body: Carries an edit out.
  mutating func carryOut(
    _ operations: [ListOperation<T>], of update: LiveUpdate, _ departed: [ByteString: [Int]],
    _ body: (inout LiveList<T>, ListOperation<T>) -> Void
  ) {
    guard !departed.isEmpty else {
      for operation in operations { body(&self, operation) }
      return
    }
    var rest = operations[...]
    var start = 0
    for (place, operation) in update.operations.enumerated() {
      guard let next = rest.first, next === operation else { continue }
      rest.removeFirst()
      remove(departed, in: start...place)
      body(&self, next)
      start = place + 1
    }
    remove(departed, in: start...Int.max)
  }

  /// Removes elements that were deleted after a count of operations in `range`.
  private mutating func remove(_ departed: [ByteString: [Int]], in range: ClosedRange<Int>) {
    remove(
      Set(
        zip(rows, models).compactMap { row, model in
          guard let identifier = model.modelIdentifier,
            let places = departed[ByteString(identifier)],
            places.contains(where: range.contains)
          else { return nil }
          return row
        }))
  }

  /// Sets the contents that the running update gives to rows.
  ///
  /// Rows of deleted models are removed.
  mutating func regenerate(_ concerned: Set<LiveRow>, _ scope: PipelineScope) {
    var gone: Set<LiveRow> = []
    for (row, place) in places(of: concerned.ordered()) {
      guard let regeneration = scope.regenerate(models[place]) else { continue }
      if let new = regeneration.model as? T {
        models[place] = new
      } else if regeneration.model == nil {
        gone.insert(row)
      }
    }
    remove(gone)
  }
}

extension ListOperation {
  /// True if the edit alone determines the committed list.
  var determinesList: Bool {
    if case .set = edit { return true }
    return false
  }
}

/// The effect of an edit on the committed list.
final class CommittedStep<T: SimpleModel> {
  let edit: ListEdit<T>
  let step: ListStep<T>

  init(edit: ListEdit<T>, step: ListStep<T>) {
    self.edit = edit
    self.step = step
  }
}

extension ListState {
  /// Returns the effect of a pending edit on the committed list; `nil` if `plan` does not fit.
  fileprivate func committedStep(
    of operation: ListOperation<T>, _ plan: ListPlan?
  ) -> CommittedStep<T>? {
    guard let index = pending.firstIndex(where: { $0.operation === operation }) else { return nil }
    if index == 0, plan == nil || plan == pending[0].step.plan {
      return CommittedStep(edit: operation.edit, step: pending[0].step)
    }
    var list = committed
    guard let plan else {
      return CommittedStep(edit: operation.edit, step: list.apply(operation.edit))
    }
    guard plan.fits(list.rows.count) else { return nil }
    let edit = operation.edit.fitted(to: plan, in: list)
    return CommittedStep(edit: edit, step: list.carryOut(edit, plan))
  }
}
