import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The shown elements of all providers with one cache key, or of one provider without a key.
///
/// ```
/// edit ─► shown list, pending edit ─► ListOperation, queued ──┐
/// commit of others ───────────────────────────────────────────┴─► stage: StagedList ─┐
/// delegate ◄─ deliver ◄─ TellingQueue of each member ◄─ ListAccount ◄─ publish ◄─────┘
/// ```
/// - A member is a provider that shows the collection.
/// - The shown list is the committed list with all pending edits on top. The stored list equals the
///   committed one, unless elements were set or removed in memory only (``StoredElements``).
/// - `ListTelling` is a queued notification, ``ToldView`` the list that a delegate received last.
/// - With a store, other members are notified of an edit when it is committed. Without a store, the
///   notifications are queued when the edit is made, in `perform`.
///
/// **Locks.** Callers, the pipeline and the delivery target take the lock of `state`. The order of
/// locks is: publishing lock or lock of ``StoreTopics``, then `state`, then those of queues and of
/// ``ObservedState``. Code under the lock of `state` may queue work and compare models. It must not
/// call a provider, a delegate, or `publish` of a scope.
final class LiveCollection<T: SimpleModel>: StoreTopic, LiveHolder {
  let manager: DataModelManager
  /// `nil` if the collection belongs to a single provider.
  let cacheKey: String?
  let number: UInt64
  let state: Locked<ListState<T>>

  init(_ manager: DataModelManager, cacheKey: String?) {
    self.manager = manager
    self.cacheKey = cacheKey
    number = manager.consistencyManager.makeHolderNumber()
    var state = ListState<T>()
    state.isLoaded = cacheKey == nil
    self.state = Locked(state)
  }

  var isRetired: Bool { state.withLock { $0.isRetired } }
  /// True if the committed elements are shown.
  var isCommitted: Bool { state.withLock { $0.isLoaded && $0.isCommittedPresent } }
  var committedModels: [T] { state.withLock { $0.committed.models } }
  var isPresent: Bool { state.withLock { $0.isPresent } }
  /// True with a store: other members are notified of an edit when it is committed.
  ///
  /// Without a store they are notified when the edit is made.
  var tellsCommitted: Bool { manager.isStoreBacked }
  /// True if a store or cache keeps the elements.
  var isStored: Bool { cacheKey != nil && !manager.isMemoryOnly }
  /// True if a custom cache keeps the elements.
  var isCached: Bool { isStored && !tellsCommitted }
}

extension LiveCollection {
  func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel] {
    state.withLock { $0.committedModels(of: rows).map(\.model) }
  }
}

/// Joining and leaving.
extension LiveCollection {
  /// Adds a provider, which shows the elements from now on.
  ///
  /// - Parameters:
  ///   - provider: Not retained.
  ///   - reasons: The reasons for an initial pause, if there are any.
  /// - Returns: The member number; `nil` if the collection is being removed.
  func join(_ provider: any CollectionMember<T>, paused reasons: PauseReasons) -> UInt64? {
    state.withLock { $0.addMember(provider, paused: reasons) }
  }

  /// Removes a member.
  ///
  /// A collection without members is removed.
  func leave(_ member: UInt64) {
    state.withLock { state in
      if let index = state.index(of: member) { state.members.remove(at: index) }
    }
    retireIfUnused()
  }

  /// Removes the collection if it has no members and no waiting callers.
  ///
  /// With a store, it stays until all its edits are committed, so that new providers show them.
  func retireIfUnused() {
    let isUnused = state.withLock { state in
      guard !state.isRetired, state.members.isEmpty,
        state.waiters.isEmpty, state.pending.isEmpty || !tellsCommitted
      else { return false }
      state.isRetired = true
      // Queued under the lock: a later collection of the same key queues its load behind this step.
      manager.consistencyManager.enqueue { [self] scope in unregister(scope) }
      return true
    }
    guard isUnused else { return }
    if let cacheKey { manager.topics.removeEnded(ByteString(cacheKey)) }
  }

  /// Adds the collection to the consistency manager, once.
  func addIfNeeded(_ state: inout ListState<T>) {
    guard !state.isAdded else { return }
    state.isAdded = true
    manager.consistencyManager.enqueue { [self] scope in
      scope.add(self)
      if let cacheKey { scope.subscribe(self, to: cacheKey) }
    }
  }

  private func unregister(_ scope: PipelineScope) {
    let (list, isAdded, isPresent) = state.withLock {
      ($0.committed, $0.isAdded, $0.isCommittedPresent)
    }
    if let cacheKey, isPresent, case .memory(let shelf) = manager.backing {
      shelf.setList(cacheKey, to: list.models, scope)
    }
    guard isAdded else { return }
    if let cacheKey { scope.unsubscribe(self, from: cacheKey) }
    scope.remove(self)
  }
}

/// The state that members see; `nil` if the provider is not a member.
extension LiveCollection {
  /// Calls a closure with the index of a member, under the lock.
  func withMember<Result>(
    _ member: UInt64, _ body: (inout ListState<T>, Int) -> Result?
  ) -> Result? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      return body(&state, index)
    }
  }

  /// Returns the elements that a member shows.
  func data(of member: UInt64) -> [T]? {
    withMember(member) { $0.members[$1].standstill?.shown.models ?? $0.list.models }
  }

  /// Returns the count of elements that a member shows.
  func count(of member: UInt64) -> Int? {
    withMember(member) { ($0.members[$1].standstill?.shown ?? $0.list).rows.count }
  }

  /// Returns the time of the last change to the elements that a member shows.
  func lastUpdated(of member: UInt64) -> Date? {
    withMember(member) { state, index in
      state.members[index].standstill.map(\.lastUpdated) ?? state.lastUpdated
    }
  }
}

extension ListState {
  /// Adds a member; returns `nil` if the collection is being removed.
  mutating func addMember(
    _ provider: any CollectionMember<T>, paused reasons: PauseReasons
  ) -> UInt64? {
    guard !isRetired else { return nil }
    lastMember += 1
    let viewer = ListViewer(number: lastMember, firstEdit: editCount)
    members.append(ListMember(viewer: viewer, provider: provider))
    if !reasons.isEmpty {
      members[members.count - 1].frozen = ListMember.Frozen(
        shown: list, told: list, lastUpdated: lastUpdated, reasons: reasons)
    }
    return lastMember
  }

  func index(of member: UInt64) -> Int? { members.binarySearch(for: member, by: \.number) }

  /// All row numbers in use.
  var rowsInUse: [LiveRow] {
    var rows = list.rows
    for edit in pending {
      rows += edit.step.oldRows + edit.operation.edit.rows
    }
    rows += stored.list?.rows ?? []
    for member in members {
      if let frozen = member.frozen { rows += frozen.shown.rows + frozen.told.rows }
    }
    return rows
  }

  /// Allocates numbers for new rows.
  mutating func takeRows(_ count: Int) -> [LiveRow] {
    var numbers = rowNumbers
    defer { rowNumbers = numbers }
    return numbers.take(count) { rowsInUse }
  }
}
