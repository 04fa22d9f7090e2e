import PandoConsistency
import PandoModels
import PandoSystem

/// Changes by providers and by static calls.
extension LiveCollection {
  /// Shows a change and queues its write, in one step.
  ///
  /// - Parameters:
  ///   - request: The change; its positions are those that the member shows.
  ///   - member: The member that makes the change, and is not notified of it; `nil` for a call
  ///     without a provider.
  ///   - version: The version that the shown list must have; `nil` for any.
  ///   - updatesCache: True if the change is written to the store or cache.
  ///   - context: Passed to all notified listeners.
  /// - Returns: The pending write. `nil` if nothing was done: the member has left, the version
  ///   differs, or the collection is being removed.
  func edit(
    _ request: ListRequest<T>, by member: UInt64?, of version: UInt64? = nil,
    updatesCache: Bool = true, context: (any Sendable)?
  ) -> PendingWrite? {
    let refusal = refusal(of: request, updatesCache: updatesCache)
    let given = request.models
    let (request, update) = Self.agreeing(request)
    while true {
      let isHere = member.map { tellMemberHere($0) } ?? false
      var isBehind = false
      let outcome = finishEdit(by: member, context) { state in
        let index = member.flatMap { state.index(of: $0) }
        guard !state.isRetired, member == nil || index != nil else { return nil }
        if let version, version != state.version { return nil }
        if let refusal { return .failure(refusal) }
        if let index, isHere, !state.members[index].tellings.isAllTold {
          isBehind = true
          return nil
        }
        let count = index.flatMap { state.members[$0].standstill?.shown.rows.count }
        if let refusal = request.refusal(count: count ?? state.list.rows.count, cacheKey ?? "") {
          return .failure(refusal)
        }
        return perform(
          request, given, update, by: index, updatesCache: updatesCache, context, &state)
      }
      if !isBehind { return outcome }
    }
  }

  /// The version of the shown list, and its models.
  var version: (UInt64, [T]) { state.withLock { ($0.version, $0.list.models) } }

  /// Adds a provider and sets all elements, in one step.
  ///
  /// - Returns: The member number and the pending write; `nil` if the collection is being removed.
  func join(
    _ provider: any CollectionMember<T>, paused reasons: PauseReasons, setting models: [T],
    updatesCache: Bool, context: (any Sendable)?
  ) -> (member: UInt64?, outcome: PendingWrite)? {
    var member: UInt64?
    let refusal = refusal(of: .set(models), updatesCache: updatesCache)
    let (request, update) = Self.agreeing(.set(models))
    let outcome = finishEdit(by: member, context) { state in
      if let refusal { return .failure(refusal) }
      member = state.addMember(provider, paused: reasons)
      guard member != nil else { return nil }
      let index = state.members.count - 1
      return perform(
        request, models, update, by: index, updatesCache: updatesCache, context, &state)
    }
    return outcome.map { (member, $0) }
  }

  /// Returns the error that refuses a request; `nil` if the elements are valid.
  private func refusal(of request: ListRequest<T>, updatesCache: Bool) -> (any Error)? {
    if manager.isClosed.withLock({ $0 }) { return DataProviderError.closed }
    if cacheKey != nil, updatesCache, let refusal = manager.refusal(ofReading: T.self) {
      return refusal
    }
    let hasEmpty = request.models.contains { $0.modelIdentifier?.isEmpty ?? false }
    return hasEmpty ? DataProviderError.emptyIdentifier(T.self) : nil
  }

  /// Returns the request with the contents that its models have after the commit.
  ///
  /// If several models contain a node, the last one determines its content.
  ///
  /// - Returns: The request, and the update of the given models if there are several.
  private static func agreeing(_ request: ListRequest<T>) -> (ListRequest<T>, LiveUpdate?) {
    let models = request.models
    guard models.count > 1 else { return (request, nil) }
    let update = LiveUpdate(setting: models)
    return (update.agreeing(models).map { request.replacing($0) } ?? request, update)
  }

  /// Makes an edit under the lock, then notifies trackers and members, or reports the refusal.
  private func finishEdit(
    by member: @autoclosure () -> UInt64?, _ context: (any Sendable)?,
    _ body: (inout ListState<T>) -> Result<PendingWrite, any Error>?
  ) -> PendingWrite? {
    switch state.withLock(body) {
    case nil: return nil
    case .success(let outcome):
      reportLimits()
      if tellsCommitted { tellTrackers(except: member()) } else { tellNow(except: member()) }
      return outcome
    case .failure(let error):
      return manager.refuse(error, cacheKey.map { [$0] } ?? [], context)
    }
  }

  /// Shows a valid change, keeps it as a pending edit, and queues its operation; under the lock.
  private func perform(
    _ request: ListRequest<T>, _ given: [T], _ update: LiveUpdate?, by index: Int?,
    updatesCache: Bool, _ context: (any Sendable)?, _ state: inout ListState<T>
  ) -> Result<PendingWrite, any Error> {
    addIfNeeded(&state)
    let edit = state.edit(for: request, seenBy: index)
    let plan = edit.plan(in: state.list.rows)
    if plan == .nothing {
      // The element was removed behind a paused provider's list, or the request is empty.
      return request.isNothing ? .success(.done) : .failure(DataProviderError.gone(cacheKey ?? ""))
    }
    let writes = updatesCache && isStored
    let written = writes ? state.writing(edit, plan) : (nil, false)
    let isSilent = state.list.isUnchanged(by: edit, plan)
    let told = isSilent ? .changes([]) : plan.change
    let change = state.change(edit, told, toldTo: index, tellsCommitted: tellsCommitted)
    let step = state.list.carryOut(edit, plan)
    state.editCount += 1
    let operation = ListOperation(
      edit, given, update, writing: written.0, mayBeAbsent: written.1, isWritten: writes, of: self,
      by: index.map { state.members[$0].number }, number: state.editCount, change: change,
      context: context)
    state.pending.append(PendingEdit(operation: operation, step: step))
    state.lastUpdated = operation.date
    if let index { state.members[index].tellings.noteGap() }
    // Without a store, no edit can fail after this point.
    if case .set = edit, writes, !tellsCommitted { state.isLoaded = true }
    if !tellsCommitted { state.tell(told, operation, except: index, limits: manager.limits) }
    manager.perform(operation, updatesCache: writes)
    return .success(operation.outcome)
  }
}

extension ListState {
  /// Makes the edit for a request on the list that a member sees.
  fileprivate mutating func edit(
    for request: ListRequest<T>, seenBy index: Int?
  ) -> ListEdit<T> {
    var numbers = rowNumbers
    defer { rowNumbers = numbers }
    let list = index.flatMap { members[$0].standstill?.shown } ?? list
    return request.edit(in: list) { count in numbers.take(count) { rowsInUse } }
  }

  /// Returns the change that the acting member's own call returns: that of its delegate's list.
  ///
  /// With a store or during a pause, this list may differ from the shown one. If the member is
  /// paused, the edit is also applied to its lists.
  fileprivate mutating func change(
    _ edit: ListEdit<T>, _ shown: CollectionChange, toldTo index: Int?, tellsCommitted: Bool
  ) -> CollectionChange {
    guard let index else { return shown }
    if members[index].frozen != nil {
      _ = members[index].frozen?.shown.apply(edit)
      let plan = members[index].frozen?.told.apply(edit).plan
      return plan?.change ?? shown
    }
    let view = view(of: members[index].viewer, tellsCommitted: tellsCommitted)
    if shown == .reset || view.isSame(as: .shown) { return shown }
    return edit.plan(in: rows(in: view)).change
  }

  /// Queues the change of an edit without a store for all members except the acting one.
  fileprivate mutating func tell(
    _ change: CollectionChange, _ operation: ListOperation<T>, except actor: Int?,
    limits: DataModelManager.Limits
  ) {
    if change == .changes([]) { return }
    tellingCount += 1
    let telling = ListTelling(
      number: tellingCount, isEdit: true, change: ToldChange<T>(change), context: operation.context,
      date: operation.date)
    for index in members.indices where index != actor {
      tell(telling, member: index, limits, tellsCommitted: false)
    }
  }

  /// Queues a change for a member.
  ///
  /// If the member is paused, only the context and the date are saved.
  mutating func tell(
    _ telling: ListTelling<T>, member index: Int, _ limits: DataModelManager.Limits,
    tellsCommitted: Bool
  ) {
    if telling.change.isEmpty { return }
    if members[index].frozen != nil {
      members[index].frozen?.context = telling.context
      members[index].frozen?.date = telling.date
      return
    }
    let view = view(of: members[index].viewer, tellsCommitted: tellsCommitted)
    var tellings = exchange(&members[index].tellings, with: TellingQueue())
    tellings.append(telling) { list(in: view).models }
    members[index].tellings = tellings
    if members[index].tellings.count >= limits.undeliveredCallbacksMaximum {
      freeze(index, .limit, tellsCommitted: tellsCommitted)
      limitHitCount += 1
    }
  }
}

extension LiveList {
  /// Returns true if an edit at planned positions leaves the list unchanged.
  func isUnchanged(by edit: ListEdit<T>, _ plan: ListPlan) -> Bool {
    switch (edit, plan) {
    case (.set(let new), _): isEqual(to: new.models)
    case (.update(_, let new), .update(let index)): models[index].isEqual(to: new)
    default: false
    }
  }
}
