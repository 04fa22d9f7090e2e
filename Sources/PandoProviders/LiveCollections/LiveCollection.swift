import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoSystem

/// The elements that all providers of one cache key show; those of one provider if it has none.
///
/// Its lock is taken by callers, by the pipeline (also while the publishing lock is held) and by the
/// delivery; what is called while it is held are the queues of the manager, and nothing of a user but
/// the models' comparison.
final class LiveCollection<T: SimpleModel>: StoreTopic, LiveHolder {
  let manager: DataModelManager
  /// `nil` if one provider has it for itself.
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
  /// Whether the committed elements are shown.
  var isCommitted: Bool { state.withLock { $0.isLoaded && $0.isCommittedPresent } }
  /// The committed elements.
  var committedModels: [T] { state.withLock { $0.committed.models } }
  var isPresent: Bool { state.withLock { $0.isPresent } }
  /// Whether members are told of a change when it is committed, and not when it is made.
  var tellsCommitted: Bool { manager.isStoreBacked }
  /// Whether there is a store or cache that has the elements.
  var isStored: Bool { cacheKey != nil && !manager.isMemoryOnly }
  /// Whether that is a custom cache.
  var isCached: Bool { isStored && !tellsCommitted }
}

extension LiveCollection {
  func liveTrees(ofRows rows: [LiveRow], asksListeners: Bool) -> [any SimpleModel] {
    state.withLock { $0.committedModels(of: rows).map(\.model) }
  }
}

/// Joining and leaving.
extension LiveCollection {
  /// Lets a provider show the elements from now on.
  ///
  /// - Parameters:
  ///   - provider: It is not retained.
  ///   - reasons: Why the elements stand still for it, if they do.
  /// - Returns: The number by which it is known here; `nil` if the collection is being forgotten.
  func join(_ provider: any CollectionMember<T>, paused reasons: PauseReasons) -> UInt64? {
    state.withLock { $0.addMember(provider, paused: reasons) }
  }

  /// Ends what ``join(_:paused:)`` began; a collection that nobody shows is forgotten.
  func leave(_ member: UInt64) {
    state.withLock { state in
      if let index = state.index(of: member) { state.members.remove(at: index) }
    }
    retireIfUnused()
  }

  /// Forgets the collection if nobody shows it.
  ///
  /// With a store not before all its edits are committed: whoever asks for it meanwhile sees them.
  func retireIfUnused() {
    let isUnused = state.withLock { state in
      guard !state.isRetired, state.members.isEmpty,
        state.waiters.isEmpty, state.pending.isEmpty || !tellsCommitted
      else { return false }
      state.isRetired = true
      // Under the lock: the next collection of the key, which is made once this one is retired, asks behind it.
      manager.consistencyManager.enqueue { [self] scope in unregister(scope) }
      return true
    }
    guard isUnused else { return }
    if let cacheKey { manager.topics.removeEnded(ByteString(cacheKey)) }
  }

  /// Tells the consistency manager of the collection, once.
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
    for (row, model) in zip(list.rows, list.models) {
      scope.register(self, row: row, old: model, new: nil)
    }
    if let cacheKey { scope.unsubscribe(self, from: cacheKey) }
    scope.remove(self)
  }
}

/// What members see.
extension LiveCollection {
  /// The elements as a member shows them; `nil` if it is no member.
  func data(of member: UInt64) -> [T]? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      return state.members[index].standstill?.shown.models ?? state.list.models
    }
  }

  /// How many elements a member shows.
  func count(of member: UInt64) -> Int? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      return state.members[index].standstill?.shown.rows.count ?? state.list.rows.count
    }
  }

  /// When the elements last changed, as a member shows them.
  func lastUpdated(of member: UInt64) -> Date? {
    state.withLock { state in
      guard let index = state.index(of: member) else { return nil }
      if let still = state.members[index].standstill { return still.lastUpdated }
      return state.lastUpdated
    }
  }
}

extension ListState {
  /// Adds a member; `nil` if the collection is being forgotten.
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

  /// The index of a member.
  func index(of member: UInt64) -> Int? { members.binarySearch(for: member, by: \.number) }

  /// All row numbers that something refers to.
  var rowsInUse: [LiveRow] {
    var rows = list.rows
    for edit in pending {
      rows += edit.step.oldRows + edit.operation.edit.rows
    }
    if let stored { rows += (stored.list?.rows ?? []) + stored.shadows.values }
    for member in members {
      if let frozen = member.frozen { rows += frozen.shown.rows + frozen.told.rows }
    }
    return rows
  }

  /// Takes numbers for new rows.
  mutating func takeRows(_ count: Int) -> [LiveRow] {
    var numbers = rowNumbers
    defer { rowNumbers = numbers }
    return numbers.take(count) { rowsInUse }
  }
}
