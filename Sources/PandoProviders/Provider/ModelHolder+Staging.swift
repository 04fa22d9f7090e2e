import PandoConsistency
import PandoModels
import PandoSystem

extension ModelHolder {
  /// The state that staging needs, read at one moment.
  private struct Seen {
    let base: (any SimpleModel)?
    /// The provider's last own set that the update carries out.
    var own: SetOperation?
    /// The number of the last `clear`, which precedes the pending sets.
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
    let change = StagedModels(
      StagedModel.Cause(update.context, update.date, manager), reserving: scope.affectedCount)
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
    // Written to variables, because a result would be copied twice more.
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

  /// Returns the registered tree.
  ///
  /// One provider represents all that hold a node with the same content.
  func tree(ofRow row: LiveRow) -> (any SimpleModel)? {
    row == Self.treeRow ? state.withLock { $0.base } : nil
  }

  /// Stages the commit of an own set.
  private func stageOwn(
    _ operation: SetOperation, _ seen: Seen, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> StagedModel {
    guard
      let own = scope.registerOwn(self, row: Self.treeRow, operation.root, update, isShowable)
    else { return stageLost(operation, seen, scope) }
    if let waitingFor = seen.waitingFor { unregisterAbsent(waitingFor, scope) }
    return StagedModel(
      self, .own(operation, isOther: own.isOther), model: own.model, after: seen.clear)
  }

  /// Commits an own set, if no other live tree and no listener needs the update.
  ///
  /// - Returns: `false` if an update must carry it out.
  func commitAlone(_ operation: SetOperation, _ scope: PipelineScope) -> Bool {
    let clear = state.withLock { state -> UInt32? in
      let isAlone =
        state.pending.find(operation) != nil && state.waitingFor == nil
        && state.rare?.fetches.isEmpty ?? true
      return isAlone ? state.lastClear : nil
    }
    guard operation.isWritten, let clear,
      scope.registerAlone(self, row: Self.treeRow, operation.root)
    else { return false }
    var change = StagedModel(
      self, .own(operation, isOther: false), model: operation.root, after: clear)
    let cause = StagedModel.Cause(operation.context, operation.date, manager)
    scope.publish { _ = change.publish(cause) }
    return true
  }

  /// Stages the commit of an own set whose root was deleted meanwhile.
  private func stageLost(
    _ operation: SetOperation, _ seen: Seen, _ scope: PipelineScope
  ) -> StagedModel {
    if let base = seen.base { scope.register(self, row: Self.treeRow, old: base, new: nil) }
    if let waitingFor = seen.waitingFor { unregisterAbsent(waitingFor, scope) }
    if let identifier = operation.root.modelIdentifier { registerAbsent(identifier, scope) }
    return StagedModel(self, .lost(operation), after: seen.clear)
  }

  /// Stages the deletion of the root.
  ///
  /// The provider then waits for its identifier.
  private func stageDeleted(
    _ base: any SimpleModel, _ scope: PipelineScope
  ) -> StagedModel {
    scope.register(self, row: Self.treeRow, old: base, new: nil)
    let identifier = base.modelIdentifier
    if let identifier { registerAbsent(identifier, scope) }
    return StagedModel(self, .deleted(identifier))
  }

  /// Stages the arrival of an identifier that is awaited or being loaded from a cache.
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

  /// Returns the model that an update has for an identifier, if the holder can show it.
  private func arrival(
    of identifier: String, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> (any SimpleModel)? {
    guard let versions = update.versions[ByteString(identifier)],
      let first = versions.stored.first(where: isShowable)
        ?? versions.given.first(where: isShowable)
    else { return nil }
    // The update's models of the node in other types are merged in.
    guard let merged = scope.regenerate(first) else { return first }
    return merged.model.flatMap { isShowable($0) ? $0 : nil }
  }

  /// Returns true if the provider was neither set nor fetched again since the fetch began.
  private func isNewest(_ fetch: CacheFetch) -> Bool {
    state.withLock { fetch.action > $0.applied }
  }
}

extension ModelHolder {
  /// Registers the holder for the arrival of an identifier.
  func registerAbsent(_ identifier: String, _ scope: PipelineScope) {
    scope.registerAbsent(self, row: Self.absentRow, identifier: identifier, as: type)
  }

  /// Ends one reason to wait for an identifier.
  ///
  /// The registration ends with the last reason.
  func unregisterAbsent(_ identifier: String, _ scope: PipelineScope) {
    let isFetched = state.withLock { state in
      state.rare?.fetches.contains { $0.identifier.hasSameBytes(as: identifier) } ?? false
    }
    if isFetched { return }
    scope.unregisterAbsent(self, row: Self.absentRow, identifier: identifier)
  }
}
