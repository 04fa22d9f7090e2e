import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// The part of an update that affects one list.
///
/// - `operations` are edits of this list. `changes`, with `models`, are those of a commit by others;
///   they are set only if there are no operations.
/// - `read` has all elements, if they were read. `telling` belongs to it.
/// - `rows` and `storedRows` are the elements that contain changed nodes.
struct ListUpdate<T: SimpleModel> {
  let update: LiveUpdate
  /// The pending edits that the update commits, in order.
  var operations: [ListOperation<T>] = []
  /// The changes of a commit that is not an edit of this list.
  var changes: [CollectionChangeInformation]?
  /// The new models of `changes`, by their positions after all changes.
  var models: [Int: T] = [:]
  /// All elements, if they were read.
  var read: ReadElements<T>?
  /// The kind of notification of `read`.
  var telling = StagedList<T>.Telling.difference
  /// The shown rows that contain changed nodes.
  var rows: [LiveRow] = []
  /// The rows of separate stored elements that contain changed nodes.
  var storedRows: [LiveRow] = []

  /// The rows that the edits insert or update.
  var editedRows: [LiveRow] { operations.flatMap(\.edit.rows) }
}

/// Staging of updates on the pipeline.
///
/// Most updates are staged in place: the commit of the first pending edit, changes by others, or new
/// contents. Any other update is staged as a whole: the shown and the stored elements after it are
/// computed, and compared with those before it.
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

  /// Marks the list as out of step if a commit that can't be read is being shown.
  ///
  /// - Returns: `false` if there is no such commit.
  private func noteUnreadLoss() -> Bool {
    state.withLock { state in
      if state.isUnread { state.isOutOfStep = true }
      return state.isUnread
    }
  }

  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    let change = listUpdate(update, rows: rows, scope)
    var isApart = isApart(in: change, scope)
    if !isApart, let staged = stageInPlace(change, &isApart, scope) {
      return staged.isEmpty ? nil : staged
    }
    let staged = stageWhole(change, isApart: isApart, scope)
    return staged.isEmpty ? nil : staged
  }

  private func listUpdate(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> ListUpdate<T> {
    let firstStored = rows.firstIndex { $0.isStored } ?? rows.count
    var change = ListUpdate<T>(
      update: update, rows: Array(rows[..<firstStored]),
      storedRows: rows[firstStored...].map(\.shown))
    let own = update.operations.compactMap { $0 as? ListOperation<T> }
    if !own.isEmpty {
      change.operations = state.withLock { state in
        own.filter { operation in state.pending.contains { $0.operation === operation } }
      }
    }
    switch cacheKey.flatMap({ update.topics[ByteString($0)] as? CollectionCommit<T> }) {
    case .whole(let models, let isReset):
      change.read = ReadElements(models, shown: models?.map(scope.overlaid))
      change.telling = isReset ? .reset : .difference
    case .changes(let changes, let models) where change.operations.isEmpty:
      change.changes = changes
      change.models = models.mapValues { scope.overlaid($0) ?? $0 }
    case .changes, .own, nil: break
    }
    return change
  }
}

/// Staging in place, for a list whose shown elements are the stored ones.
extension LiveCollection {
  /// Stages an update without computing the list.
  ///
  /// - Parameters:
  ///   - change: The update.
  ///   - isApart: Set to true if the update makes shown and stored elements differ.
  ///   - scope: Regenerates the elements.
  /// - Returns: `nil` if the update must be staged as a whole.
  private func stageInPlace(
    _ change: ListUpdate<T>, _ isApart: inout Bool, _ scope: PipelineScope
  ) -> StagedList<T>? {
    guard change.read == nil, change.operations.count <= 1,
      isStored || change.update.deletions.isEmpty
    else { return nil }
    var staged = StagedList(self, change.update)
    var handled: Set<LiveRow> = []
    if let operation = change.operations.first {
      guard let step = state.withLock({ $0.confirmedStep(of: operation) }) else { return nil }
      handled = stage(operation, step, &staged, scope)
    } else if let changes = change.changes {
      let script = state.withLock { state in
        state.needsWhole
          ? nil : state.script(changes, change.models, on: state.committedRows)
      }
      if var script {
        script.keepRows { rows in state.withLock { $0.committedModels(of: rows) } }
        handled = stage(script, &staged, scope)
      } else {
        reload(scope)
      }
    }
    stageContents(change.rows.filter { !handled.contains($0) }, &staged, scope)
    if isStored, !staged.removed.isEmpty {
      if isCached {
        noteLoss(change.update)
      } else if !noteUnreadLoss() {
        // The store reports its own deletions. This removal was not written.
        isApart = true
        return nil
      }
    }
    return staged
  }

  /// Stages the commit of the first pending edit at its shown positions.
  ///
  /// - Returns: The rows that the edit affects.
  private func stage(
    _ operation: ListOperation<T>, _ step: ListStep<T>, _ staged: inout StagedList<T>,
    _ scope: PipelineScope
  ) -> Set<LiveRow> {
    staged.structure = .confirmed(operation)
    if step.plan == .nothing {
      operation.noteAbsence()
      return []
    }
    let edit = operation.edit
    let rows = Set(edit.rows)
    for (row, old) in zip(step.oldRows, step.oldModels) where !rows.contains(row) {
      scope.register(self, row: row, old: old, new: nil)
    }
    for (row, model) in zip(edit.rows, edit.models) {
      // The update may contain newer data of a node, in another type or as stored.
      let new = scope.regenerate(model)?.model as? T
      if let new { staged.contents.append((row, new)) }
      scope.register(self, row: row, old: nil, new: new ?? model)
    }
    return rows.union(step.oldRows)
  }

  /// Stages changes by others.
  ///
  /// - Returns: The rows that the changes affect.
  private func stage(
    _ script: ListScript<T>, _ staged: inout StagedList<T>, _ scope: PipelineScope
  ) -> Set<LiveRow> {
    staged.structure = .script(script)
    for row in script.deleted.subtracting(script.inserted) {
      scope.register(self, row: row, old: nil, new: nil)
    }
    for (row, model) in script.models { scope.register(self, row: row, old: nil, new: model) }
    return script.deleted.union(script.models.keys)
  }

  /// Stages new contents of committed elements that contain changed nodes.
  private func stageContents(
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
    staged.contents = staged.contents.ordered { $0.row < $1.row }
  }

  /// Records the removal of stored elements whose models were deleted.
  private func noteLoss(_ update: LiveUpdate) {
    (update.operation as? DeleteOperation)?.noteLoss(of: self)
  }
}

/// Staging as a whole.
extension LiveCollection {
  /// Returns true if shown and stored elements differ before an update, or may differ after it.
  private func isApart(in change: ListUpdate<T>, _ scope: PipelineScope) -> Bool {
    guard isStored, change.telling != .reset else { return false }
    let update = change.update
    // An edit that was made while both lists differed may have another position in each of them.
    return state.withLock { $0.stored.isApart }
      || change.operations.contains { $0.written == nil || $0.mayBeAbsent }
      || update.deletions.contains { !$0.isStored }
      || isCached && !change.rows.isEmpty && !isWritten(update)
      || change.models.values.contains { scope.overlaid($0) == nil }
  }

  /// Returns true if the update's changes are in the store or cache.
  private func isWritten(_ update: LiveUpdate) -> Bool {
    if update.changeSet != nil { return true }
    guard let operation = update.operation as? any ManagedOperation else { return !isCached }
    return operation.isWritten
  }

  /// Stages an update by the shown and stored elements after it.
  ///
  /// - Parameters:
  ///   - change: The update.
  ///   - isApart: True if both may differ.
  ///   - scope: Regenerates the elements.
  /// - Returns: The staged change; it is empty if the update changes nothing.
  func stageWhole(
    _ change: ListUpdate<T>, isApart: Bool, _ scope: PipelineScope
  ) -> StagedList<T> {
    let update = change.update
    var staged = StagedList(self, update)
    let (old, oldStored, former, isLoaded) = state.withLock {
      ($0.committed, $0.storedList, $0.stored, $0.isLoaded)
    }
    let isSet = change.operations.contains { $0.isWritten && $0.determinesList }
    var (shown, stored) = (old, isApart ? oldStored ?? (isSet ? LiveList() : nil) : nil)
    if isApart || !isStored {
      shown.carryOut(change.operations, of: update, update.deletions) { list, operation in
        if list.apply(operation.edit).plan == .nothing { operation.noteAbsence() }
      }
      // The changes by others contain their deletions.
      let deletions = change.changes == nil ? update.deletions.filter(\.isStored) : []
      stored?.carryOut(change.operations, of: update, deletions) { _ = $0.carryOutStored($1) }
    } else {
      for operation in change.operations {
        if change.read != nil {
          // Positions in the stored list count elements that can't be decoded.
          _ = shown.apply(operation.edit)
        } else if !shown.carryOutStored(operation) {
          // The committed list differs from the stored one, so it is read again.
          staged.structure = .failed(operation)
          reload(scope)
          return staged
        }
      }
    }
    var fresh: Set<LiveRow> = []
    if let changes = change.changes {
      fresh = take(changes, change, &shown, &stored, scope)
    } else if let read = change.read {
      let isKnown = isLoaded || change.operations.contains(where: \.determinesList)
      take(read, isApart: isApart, isKnown: isKnown, &shown, &stored)
    }
    if isApart || change.read == nil {
      let gone = shown.regenerate(
        change.rows.filter { !fresh.contains($0) }, change.editedRows, scope)
      var isLost = !isApart && !gone.isEmpty
      shown.remove(gone)
      if isWritten(update) {
        let lost = stored?.regenerate(change.storedRows, change.editedRows, scope) ?? []
        if isCached, !lost.isEmpty {
          stored?.remove(lost)
          isLost = true
        }
      }
      if isCached, isLost { noteLoss(update) }
    }
    var next = StoredElements<T>.asShown
    if isApart || change.read != nil, isStored {
      let isExact = isCached
      next = .unread
      if let stored { next = shown.isSame(as: stored, isExact: isExact) ? .asShown : .list(stored) }
    }
    let updated = register(from: old, to: shown, scope) { $0 }
    _ = register(from: former.list ?? LiveList(), to: next.list ?? LiveList(), scope) { $0.stored }
    if former.isApart || next.isApart { staged.stored = next }
    let isRead = change.read != nil
    if !isRead, stageConfirmed(change.operations, shown, since: old, &staged) { return staged }
    if isRead || !change.operations.isEmpty || !updated.isEmpty || shown.rows != old.rows {
      let overtaken = state.withLock { $0.overtaken(by: change.operations) }
      staged.structure = .whole(
        StagedList.Whole(
          list: shown,
          updated: updated.map(\.row) + change.editedRows + overtaken.flatMap(\.edit.rows),
          isPresent: isApart ? true : change.read?.isPresent ?? true, isRead: isRead,
          telling: change.telling, operations: change.operations, overtaken: overtaken))
    }
    return staged
  }

  /// Stages the commit of the first pending edit, if the shown list has it at its shown positions.
  private func stageConfirmed(
    _ operations: [ListOperation<T>], _ shown: LiveList<T>, since old: LiveList<T>,
    _ staged: inout StagedList<T>
  ) -> Bool {
    guard operations.count == 1,
      let first = state.withLock({ $0.pending.first }), first.operation === operations[0]
    else { return false }
    var expected = old
    _ = expected.carryOut(first.operation.edit, first.step.plan)
    guard expected.rows == shown.rows else { return false }
    staged.structure = .confirmed(first.operation)
    staged.contents = shown.difference(since: expected).updated.ordered { $0.row < $1.row }
    return true
  }

  /// Applies changes by others to the shown and stored elements, which differ.
  ///
  /// - Returns: The rows whose contents the changes have set.
  private func take(
    _ changes: [CollectionChangeInformation], _ change: ListUpdate<T>,
    _ shown: inout LiveList<T>, _ stored: inout LiveList<T>?, _ scope: PipelineScope
  ) -> Set<LiveRow> {
    let found = state.withLock { state in
      state.needsWhole ? nil : stored.flatMap { state.script(changes, change.models, on: $0.rows) }
    }
    guard let base = stored, var script = found else {
      reload(scope)
      return []
    }
    // A row whose stored element was deleted may show a model of another node.
    let deleted = change.update.deleted
    func isDeleted(_ model: T?) -> Bool {
      model?.modelIdentifier.map { deleted.contains(ByteString($0)) } ?? false
    }
    let kept = script.deleted.filter { row in
      !deleted.isEmpty && isDeleted(base.model(of: row)) && !isDeleted(shown.model(of: row))
    }
    guard var shownScript = script.shown(in: shown.rows, stored: base.rows, keeping: kept) else {
      reload(scope)
      return []
    }
    let returning = script.keepRows(of: base.models(of:), besides: kept)
    shownScript.renumber(returning)
    shownScript.carryOut(on: &shown)
    var list = base
    script.carryOut(on: &list)
    stored = list
    shown.remove(
      Set(script.inserted.filter { script.models[$0].map { scope.overlaid($0) == nil } ?? false }))
    return Set(script.models.keys)
  }

  /// Applies elements that were read to the shown and stored elements.
  ///
  /// If both differ, elements of the shown list alone stay there. The shown list gets the changes of
  /// the stored list since its last read.
  private func take(
    _ read: ReadElements<T>, isApart: Bool, isKnown: Bool, _ shown: inout LiveList<T>,
    _ stored: inout LiveList<T>?
  ) {
    let rows = (stored ?? shown).rows(for: read.models) { count in
      state.withLock { $0.takeRows(count) }
    }
    let (new, newShown) = read.lists(rows)
    if !isApart {
      shown = newShown
    } else if !isKnown {
      // No edit has set the whole list. Elements that are only shown go behind those that were read.
      let isRead = Set(newShown.rows)
      let others = zip(shown.rows, shown.models).filter { !isRead.contains($0.0) }
      shown = LiveList(
        rows: newShown.rows + others.map(\.0), models: newShown.models + others.map(\.1))
    } else if let base = stored {
      shown.follow(from: base, to: new, shown: newShown)
    }
    stored = new
  }

  /// Registers the rows that differ between two lists.
  ///
  /// - Returns: The rows that both lists have with different models.
  private func register(
    from old: LiveList<T>, to new: LiveList<T>, _ scope: PipelineScope,
    as number: (LiveRow) -> LiveRow
  ) -> [(row: LiveRow, model: T)] {
    let difference = new.difference(since: old)
    for (row, model) in difference.updated + difference.inserted {
      scope.register(self, row: number(row), old: nil, new: model)
    }
    for row in difference.removed { scope.register(self, row: number(row), old: nil, new: nil) }
    return difference.updated
  }
}

extension ListOperation {
  /// True if the edit alone determines the committed list.
  var determinesList: Bool {
    if case .set = edit { return true }
    return false
  }
}

extension ListState {
  /// Returns the effect of the first pending edit, if the store has it at its shown positions.
  fileprivate func confirmedStep(of operation: ListOperation<T>) -> ListStep<T>? {
    guard let first = pending.first, first.operation === operation else { return nil }
    let plan = operation.committedPlan
    return plan == nil || plan == first.step.plan ? first.step : nil
  }

  /// Returns the pending edits that have failed, because a later edit is among the committed ones.
  ///
  /// Edits are committed in their order. The pipeline usually receives a failure before later commits; a failed write to
  /// a log may come after them. A failed insertion must not be replayed: a committed `set` may have its rows already.
  fileprivate func overtaken(by operations: [ListOperation<T>]) -> [ListOperation<T>] {
    func isCommitted(_ edit: PendingEdit<T>) -> Bool {
      operations.contains { $0 === edit.operation }
    }
    guard let last = pending.lastIndex(where: isCommitted) else { return [] }
    return pending[..<last].filter { !isCommitted($0) }.map(\.operation)
  }

  /// Makes a script of changes by others; returns `nil` if they don't fit the rows.
  fileprivate mutating func script(
    _ changes: [CollectionChangeInformation], _ models: [Int: T], on rows: [LiveRow]
  ) -> ListScript<T>? {
    let newRows = takeRows(changes.numberOfInsertedElements())
    return ListScript(changes, models, on: rows, newRows: newRows)
  }
}
