import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// An edit of a collection on its way to the store, the cache and other live trees.
final class ListOperation<T: SimpleModel>: ManagedOperation {
  let collection: LiveCollection<T>
  let edit: ListEdit<T>
  /// What it does to the stored rows, where it is written and they are known; `nil` if nothing.
  let written: ListEdit<T>?
  /// The same for a list that is known only when it is carried out.
  let storedEdit: StoredEdit<T>?
  /// Whether what it is about may be shown and not stored: then nothing is changed there.
  let mayBeAbsent: Bool
  let isWritten: Bool
  /// The member that made it; `nil` for a call without a provider.
  let member: UInt64?
  /// Counts the edits of the collection, from 1.
  let editNumber: UInt64
  let context: (any Sendable)?
  let outcome: PendingWrite
  let date = Date()
  /// Where the store has carried it out; set anew each time the write is run.
  private let storedPlan = Locked<ListPlan?>(nil)
  /// Whether it has set a stored model that is not in the stored list; set anew likewise.
  private let hasSetModel = Locked(false)
  /// Whether what it is about had gone where it was shown.
  private let isLost = Locked(false)
  /// What a custom cache is given.
  private let cached = Locked(Cached.unknown)

  private enum Cached {
    /// The cache has to be asked for what it has.
    case unknown
    /// The stored elements as this edit leaves them.
    case list([T])
  }

  init(
    _ edit: ListEdit<T>, _ writing: StoredWriting<T>, isWritten: Bool,
    of collection: LiveCollection<T>, by member: UInt64?, number editNumber: UInt64,
    change: CollectionChange, context: (any Sendable)?
  ) {
    written = writing.edit
    storedEdit = writing.stored
    mayBeAbsent = writing.mayBeAbsent
    self.isWritten = isWritten
    self.editNumber = editNumber
    self.edit = edit
    self.collection = collection
    self.member = member
    self.context = context
    outcome = PendingWrite(change: change)
  }

  var holderNumber: UInt64? { collection.number }
  var subjects: [String] { collection.cacheKey.map { [$0] } ?? [] }
  var cacheKeys: [String] { subjects }
  var collectionKey: String? { collection.cacheKey }

  func attach(_ scope: PipelineScope) { if !collection.isRetired { scope.add(collection) } }

  /// At which places of the stored list it was carried out; `nil` if it was not written there.
  var committedPlan: ListPlan? { storedPlan.withLock { $0 } }

  func makeUpdate() -> LiveUpdate {
    var update = LiveUpdate(setting: edit.models, context: context)
    update.date = date
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    storedPlan.withLock { $0 = nil }
    hasSetModel.withLock { $0 = false }
    guard let cacheKey = collection.cacheKey else { return }
    var plan: ListPlan?
    do {
      plan = try storedEdit?.write(&transaction, cacheKey, makes: true)
    } catch let error as DataProviderError where error.code == .superseded && mayBeAbsent {
      plan = .nothing
    }
    if plan == nil || plan == .nothing, case .update(_, let model) = edit,
      let identifier = model.modelIdentifier, try transaction.snapshot.contains(identifier)
    {
      // The element is not in the stored list, but stored elsewhere.
      try transaction.setTree(model)
      hasSetModel.withLock { $0 = true }
    }
    storedPlan.withLock { $0 = plan }
  }

  func write(to cache: any CacheDelegate) async throws {
    guard let cacheKey = collection.cacheKey, let storedEdit else { return }
    switch cached.withLock({ $0 }) {
    case .list(let models):
      try await cache.setCollection(models, forKey: cacheKey, context: context)
    case .unknown:
      try await storedEdit.write(
        to: cache, cacheKey, makes: true, mayBeAbsent: mayBeAbsent, context: context)
    }
  }

  var obstacle: (any Error)? {
    if isWritten, collection.tellsCommitted { return nil }
    guard collection.isGone(self) else { return nil }
    return DataProviderError.gone(collection.cacheKey ?? "")
  }

  /// Notes, where it is shown, that what it is about was not there any more.
  ///
  /// It fails when it is finished, unless it has changed what is stored.
  func noteAbsence() {
    if isWritten, !collection.tellsCommitted || hasSetModel.withLock({ $0 }) { return }
    if committedPlan ?? .nothing == .nothing { isLost.withLock { $0 = true } }
  }

  /// An edit of what is shown only changes that.
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
      cached.withLock { $0 = .list(models) }
    }
    collection.retireIfUnused()
  }

  func fail(_ error: any Error, _ scope: PipelineScope) { collection.takeBack(self, scope) }
}
