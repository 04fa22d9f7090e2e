import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// A queued edit of a collection for the store, the cache and other live trees.
///
/// - `edit` changes the shown list, `written` the stored one.
/// - The write sets `storedPlan` and `hasSetModel`. The pipeline reads them, and sets `isLost` and
///   `cached`.
final class ListOperation<T: SimpleModel>: ManagedOperation {
  let collection: LiveCollection<T>
  let edit: ListEdit<T>
  /// The models of the call; in `edit`, all models of one node have equal content.
  private let given: [T]
  /// The edit of the stored list; `nil` if that does not change.
  let written: ListEdit<T>?
  /// True if the edited element may be missing in the stored list, which then stays unchanged.
  ///
  /// If it is false and the element is missing, the write fails.
  let mayBeAbsent: Bool
  let isWritten: Bool
  /// The member that made the edit; `nil` for a call without a provider.
  let member: UInt64?
  /// The number of the edit in its collection, counted from 1.
  let editNumber: UInt64
  let context: (any Sendable)?
  let outcome: PendingWrite
  let date = Date()
  /// The positions that the write has changed in the stored list; set by each run of the write.
  private let storedPlan = Locked<ListPlan?>(nil)
  /// True if the write has set the model of an element that the stored list lacks; set by each run.
  private let hasSetModel = Locked(false)
  /// True if the edited element was no longer in the shown list.
  private let isLost = Locked(false)
  /// The stored elements after this edit; `nil` if they have to be loaded from a custom cache.
  private let cached = Locked<[T]?>(nil)
  /// The update that sets the models of `edit`; `nil` if it is not made yet.
  private let prepared: Locked<LiveUpdate?>

  init(
    _ edit: ListEdit<T>, _ given: [T], _ update: LiveUpdate?, writing written: ListEdit<T>?,
    mayBeAbsent: Bool,
    isWritten: Bool,
    of collection: LiveCollection<T>, by member: UInt64?, number editNumber: UInt64,
    change: CollectionChange, context: (any Sendable)?
  ) {
    self.written = written
    self.mayBeAbsent = mayBeAbsent
    self.isWritten = isWritten
    self.editNumber = editNumber
    self.edit = edit
    self.given = given
    self.collection = collection
    self.member = member
    self.context = context
    prepared = Locked(update)
    outcome = PendingWrite(change: change)
  }

  var holderNumber: UInt64? { collection.number }
  var subjects: [String] { collection.cacheKey.map { [$0] } ?? [] }
  var cacheKeys: [String] { subjects }
  var collectionKey: String? { collection.cacheKey }

  func attach(_ scope: PipelineScope) { if !collection.isRetired { scope.add(collection) } }

  /// The changed positions of the stored list; `nil` if the edit was not written there.
  var committedPlan: ListPlan? { storedPlan.withLock { $0 } }

  func makeUpdate() -> LiveUpdate {
    var update = prepared.withLock { $0.take() } ?? LiveUpdate(setting: edit.models)
    update.context = context
    update.date = date
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    storedPlan.withLock { $0 = nil }
    hasSetModel.withLock { $0 = false }
    guard let cacheKey = collection.cacheKey else { return }
    var plan: ListPlan?
    if let written {
      let count = try transaction.snapshot.collectionCount(cacheKey)
      let found = try written.plan(in: cacheKey, count: count ?? 0, transaction)
      if found == .nothing, !mayBeAbsent { throw DataProviderError.gone(cacheKey) }
      // Of two models of a node the edit has the last one. The first may contain nodes of its own.
      if given.count > 1, !zip(given, edit.models).allSatisfy({ $0.isEqual(to: $1) }) {
        for model in given { try transaction.setTree(model) }
      }
      try transaction.carryOut(
        found, written.models, inCollection: cacheKey, appends: count == nil || written.isAppend)
      plan = found
    }
    if plan == nil || plan == .nothing, case .update(_, let model) = edit,
      let identifier = model.modelIdentifier, try transaction.snapshot.contains(identifier)
    {
      // The element is not in the stored list, but the store has its model.
      try transaction.setTree(model)
      hasSetModel.withLock { $0 = true }
    }
    storedPlan.withLock { $0 = plan }
  }

  func write(to cache: any CacheDelegate) async throws {
    guard let cacheKey = collection.cacheKey, let written else { return }
    var list = cached.withLock { $0 } ?? []
    if case .set = written {
      list = written.models
    } else if cached.withLock({ $0 == nil }) {
      list = try await cache.collection(forKey: cacheKey, as: T.self, context: context) ?? []
      let plan = written.plan(in: list)
      if plan == .nothing {
        if mayBeAbsent { return }
        throw DataProviderError.gone(cacheKey)
      }
      _ = list.carryOut(plan, written.models)
    }
    try await cache.setCollection(list, forKey: cacheKey, context: context)
  }

  var obstacle: (any Error)? {
    if isWritten, collection.tellsCommitted { return nil }
    guard collection.isGone(self) else { return nil }
    return DataProviderError.gone(collection.cacheKey ?? "")
  }

  /// Records that the edited element was no longer in the shown list.
  ///
  /// If the operation has changed no stored data, it then fails in `finish(_:)`.
  func noteAbsence() {
    if isWritten, !collection.tellsCommitted || hasSetModel.withLock({ $0 }) { return }
    if committedPlan ?? .nothing == .nothing { isLost.withLock { $0 = true } }
  }

  /// True if the edit changes stored data.
  ///
  /// An edit of the shown list alone does not.
  var isStored: Bool {
    isWritten && (committedPlan ?? .nothing != .nothing || hasSetModel.withLock { $0 })
  }

  func finish(_ scope: PipelineScope) {
    if isLost.withLock({ $0 }) {
      let error = DataProviderError.gone(collection.cacheKey ?? "")
      collection.manager.reporter.report(.failedWrite(error, of: subjects, context: context))
      outcome.finish(.failure(error))
    }
    if collection.isCached, written != nil, let models = collection.storedModels {
      cached.withLock { $0 = models }
    }
    collection.retireIfUnused()
  }

  func fail(_ error: any Error, _ scope: PipelineScope) { collection.takeBack(self, scope) }
}
