import PandoConsistency
import PandoModels
import PandoSystem

extension ModelHolder {
  /// What staging needs to know, read at one moment.
  private struct Seen {
    let base: (any SimpleModel)?
    /// The last set of the provider's own that the update carries out.
    var own: SetOperation?
    /// The last `clear`, which came before the sets that are pending.
    var clear: UInt32 = 0
    var waitingFor: String?
    var fetches: [CacheFetch] = []

    init(_ state: borrowing State, _ update: borrowing LiveUpdate, seesAbsent: Bool) {
      base = state.base
      if !state.pending.isEmpty {
        for operation in update.operations.reversed() where own == nil {
          own = state.pending.find(operation)
        }
        clear = state.lastClear
      }
      guard seesAbsent || own != nil else { return }
      waitingFor = state.waitingFor
      if let rare = state.rare { fetches = rare.fetches }
    }
  }

  func stage(
    _ update: LiveUpdate, rows: [LiveRow], _ scope: PipelineScope
  ) -> (any StagedChange)? {
    guard let staged = stageModel(update, rows, scope) else { return nil }
    if let group = scope.group as? StagedModels {
      group.append(staged)
      return nil
    }
    let change = StagedModels(update, manager, reserving: scope.affectedCount)
    change.append(staged)
    scope.begin(change)
    return change
  }

  private func stageModel(
    _ update: LiveUpdate, _ rows: [LiveRow], _ scope: PipelineScope
  ) -> StagedModel? {
    let isAwaited = rows.last == Self.absentRow
    var base: (any SimpleModel)?
    var hasPending = false
    // Not as a result: that would be copied twice more.
    state.withLock { state in
      base = state.base
      hasPending = !state.pending.isEmpty
    }
    if isAwaited || hasPending {
      let seen = state.withLock { Seen($0, update, seesAbsent: isAwaited) }
      if let own = seen.own { return stageOwn(own, seen, update, scope) }
      if isAwaited, let change = stageAbsent(seen, update, scope) { return change }
    }
    guard rows.first == Self.treeRow, let base,
      let regeneration = scope.regenerate(base, of: self, row: Self.treeRow)
    else { return nil }
    guard let model = regeneration.model else { return stageDeleted(base, scope) }
    guard isShowable(model) else { return nil }
    scope.register(self, row: Self.treeRow, regeneration)
    return StagedModel(self, .elsewhere, model: model)
  }

  /// What is registered: one provider speaks for all that hold a node with the same content.
  func tree(ofRow row: LiveRow) -> (any SimpleModel)? {
    row == Self.treeRow ? state.withLock { $0.base } : nil
  }

  /// An own set comes back: it is what is committed now.
  private func stageOwn(
    _ operation: SetOperation, _ seen: Seen, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> StagedModel {
    if !update.deleted.isEmpty || !update.renewed.isEmpty,
      let regeneration = scope.regenerate(operation.root),
      regeneration.model == nil
    {
      return stageLost(operation, seen, scope)
    }
    let other = scope.registerOwn(self, row: Self.treeRow, operation.root, update, isShowable)
    let model = other ?? operation.root
    if let waitingFor = seen.waitingFor { unregisterAbsent(waitingFor, scope) }
    return StagedModel(
      self, .own(operation, isOther: other != nil), model: model, after: seen.clear)
  }

  /// An own set comes back, and its root has been deleted since.
  private func stageLost(
    _ operation: SetOperation, _ seen: Seen, _ scope: PipelineScope
  ) -> StagedModel {
    if let base = seen.base { scope.register(self, row: Self.treeRow, old: base, new: nil) }
    if let waitingFor = seen.waitingFor { unregisterAbsent(waitingFor, scope) }
    if let identifier = operation.root.modelIdentifier { registerAbsent(identifier, scope) }
    return StagedModel(self, .lost(operation), after: seen.clear)
  }

  /// The root is deleted: what comes back under its identifier is shown again.
  private func stageDeleted(
    _ base: any SimpleModel, _ scope: PipelineScope
  ) -> StagedModel {
    scope.register(self, row: Self.treeRow, old: base, new: nil)
    let identifier = base.modelIdentifier
    if let identifier { registerAbsent(identifier, scope) }
    return StagedModel(self, .deleted(identifier))
  }

  /// An identifier that is awaited, or that a cache is being asked for, is in the update.
  private func stageAbsent(
    _ seen: Seen, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> StagedModel? {
    for fetch in seen.fetches where update.deleted.contains(ByteString(fetch.identifier)) {
      fetch.isDeleted = true
    }
    let newest = seen.fetches.last { isNewest($0) }
    guard let identifier = seen.waitingFor ?? newest?.identifier,
      let model = arrival(of: identifier, update, scope)
        ?? newest.flatMap({ arrival(of: $0.identifier, update, scope) })
    else { return nil }
    var applied: UInt64 = 0
    for fetch in seen.fetches
    where model.modelIdentifier?.hasSameBytes(as: fetch.identifier) == true {
      fetch.isOvertaken = true
      applied = max(applied, fetch.action)
    }
    if let waitingFor = seen.waitingFor { unregisterAbsent(waitingFor, scope) }
    scope.register(self, row: Self.treeRow, old: seen.base, new: model)
    return StagedModel(self, .arrived(applied), model: model)
  }

  /// The model that an update brings for an identifier, if it carries it as this type.
  private func arrival(
    of identifier: String, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> (any SimpleModel)? {
    guard let versions = update.versions[ByteString(identifier)],
      let first = versions.stored.first(where: isShowable)
        ?? versions.given.first(where: isShowable)
    else { return nil }
    // Other types of it in the same update are merged in.
    guard let merged = scope.regenerate(first) else { return first }
    return merged.model.flatMap { isShowable($0) ? $0 : nil }
  }

  /// Whether the provider has done nothing else since the fetch began.
  private func isNewest(_ fetch: CacheFetch) -> Bool {
    state.withLock { fetch.action > $0.applied }
  }
}

extension ModelHolder {
  /// Has the holder asked when an identifier comes.
  func registerAbsent(_ identifier: String, _ scope: PipelineScope) {
    scope.registerAbsent(self, row: Self.absentRow, identifier: identifier, as: type)
  }

  /// Ends one reason to wait for an identifier; the registration ends with the last.
  func unregisterAbsent(_ identifier: String, _ scope: PipelineScope) {
    let isFetched = state.withLock { state in
      state.rare?.fetches.contains { $0.identifier.hasSameBytes(as: identifier) } ?? false
    }
    if isFetched { return }
    scope.unregisterAbsent(self, row: Self.absentRow, identifier: identifier)
  }
}
