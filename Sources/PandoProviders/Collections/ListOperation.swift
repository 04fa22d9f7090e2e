import PandoConsistency
import FoundationEssentials
import PandoSystem
import PandoModels
import PandoStore

/// An edit of a collection on its way to the store, the cache and other live trees.
final class ListOperation<T: SimpleModel>: ManagedOperation {
  let collection: LiveCollection<T>
  let edit: ListEdit<T>
  /// The same for a list that is known only when it is carried out; `nil` if it is shown only.
  let storedEdit: StoredEdit<T>?
  /// The member that made it; `nil` for a call without a provider.
  let member: UInt64?
  /// Counts the edits of the collection, from 1.
  let editNumber: UInt64
  /// All elements as this edit leaves them, where they are to be written as a whole.
  let whole: LiveList<T>?
  let context: (any Sendable)?
  let outcome: PendingWrite
  let date = Date()
  /// Where the store has carried it out; set anew each time the write is run.
  private let storedPlan = Locked<ListPlan?>(nil)

  init(
    _ edit: ListEdit<T>, storedAs storedEdit: StoredEdit<T>?, of collection: LiveCollection<T>,
    by member: UInt64?, number editNumber: UInt64, whole: LiveList<T>?, change: CollectionChange,
    context: (any Sendable)?
  ) {
    self.editNumber = editNumber
    self.edit = edit
    self.storedEdit = storedEdit
    self.collection = collection
    self.member = member
    self.whole = whole
    self.context = context
    outcome = PendingWrite(change: change)
  }

  var holder: (any LiveHolder)? { collection }
  var subjects: [String] { collection.cacheKey.map { [$0] } ?? [] }
  var cacheKeys: [String] { subjects }
  var collectionKey: String? { collection.cacheKey }

  func attach(_ scope: PipelineScope) { if !collection.isRetired { scope.add(collection) } }

  /// At which places of the stored list it was carried out; `nil` if it was not written, or the list
  /// was written as a whole.
  var committedPlan: ListPlan? { storedPlan.withLock { $0 } }

  func makeUpdate() -> LiveUpdate {
    var update = LiveUpdate(setting: edit.models, context: context)
    update.date = date
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    storedPlan.withLock { $0 = nil }
    guard let cacheKey = collection.cacheKey else { return }
    if let whole {
      _ = try StoredEdit.set(whole.models).write(&transaction, cacheKey, makes: true)
    } else if let storedEdit {
      let plan = try storedEdit.write(&transaction, cacheKey, makes: true)
      storedPlan.withLock { $0 = plan }
    }
  }

  func write(to cache: any CacheDelegate) async throws {
    guard let cacheKey = collection.cacheKey else { return }
    if let whole {
      try await cache.setCollection(whole.models, forKey: cacheKey, context: context)
    } else if let storedEdit {
      try await storedEdit.write(to: cache, cacheKey, makes: true, context: context)
    }
  }

  func finish(_ scope: PipelineScope) { collection.retireIfUnused() }

  func fail(_ error: any Error, _ scope: PipelineScope) { collection.takeBack(self, scope) }
}
