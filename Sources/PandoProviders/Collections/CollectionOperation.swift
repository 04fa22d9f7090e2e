import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// A change of a stored collection that no provider shows.
final class CollectionOperation<T: SimpleModel>: ManagedOperation {
  let request: ListRequest<T>
  let cacheKey: String
  let context: (any Sendable)?
  let outcome = PendingWrite()
  let isWritten: Bool
  let date = Date()
  /// True if the caller's closure cancelled the change; set again on each run of the write.
  private let isLeft = Locked(false)
  private let manager: DataModelManager
  /// The request for the list in the memory shelf, with its position.
  private let placed = Locked<ListRequest<T>?>(nil)

  init(
    _ request: ListRequest<T>, _ cacheKey: String, _ manager: DataModelManager, isWritten: Bool,
    context: (any Sendable)?
  ) {
    self.manager = manager
    self.isWritten = isWritten
    self.request = request
    self.cacheKey = cacheKey
    self.context = context
  }

  var holderNumber: UInt64? { nil }
  var subjects: [String] { [cacheKey] }
  var cacheKeys: [String] { [cacheKey] }

  func makeUpdate() -> LiveUpdate {
    let isLeft = isLeft.withLock { $0 }
    var update = LiveUpdate(setting: isLeft ? [] : request.models, context: context)
    update.date = date
    return update
  }

  func write(_ transaction: inout ModelTransaction) throws {
    let count = try transaction.snapshot.collectionCount(cacheKey)
    if count == nil, !request.creates { throw DataProviderError.noSuchCollection(cacheKey) }
    let list = StoredList<T>(cacheKey, count ?? 0)
    let placed = try request.placed { try $0.index(in: list, transaction.snapshot) }
    isLeft.withLock { $0 = placed == nil }
    guard let placed else { return }
    if let refusal = placed.refusal(count: list.count, cacheKey) { throw refusal }
    var appends = false
    if case .append = placed { appends = true }
    try transaction.carryOut(
      placed.plan(count: list.count), placed.models, inCollection: cacheKey, appends: appends)
  }

  func write(to cache: any CacheDelegate) async throws {
    if case .set(let models) = request {
      return try await cache.setCollection(models, forKey: cacheKey, context: context)
    }
    let stored = try await cache.collection(forKey: cacheKey, as: T.self, context: context)
    guard let placed = try place(in: stored) else { return }
    let list = placed.applied(to: stored ?? [])
    try await cache.setCollection(list, forKey: cacheKey, context: context)
  }

  /// Looks up the positions of the change.
  ///
  /// - Parameter stored: The elements before the change; `nil` if the collection does not exist.
  /// - Returns: The change; `nil` if the caller's closure cancels it.
  /// - Throws: The error that prevents the change; any error of the caller's closure.
  private func place(in stored: [T]?) throws -> ListRequest<T>? {
    guard let list = stored ?? (request.creates ? [] : nil) else {
      throw DataProviderError.noSuchCollection(cacheKey)
    }
    guard let placed = try request.placed(by: { try $0.index(in: list, cacheKey) }) else {
      return nil
    }
    if let refusal = placed.refusal(count: list.count, cacheKey) { throw refusal }
    return placed
  }

  func obstacle(on shelf: MemoryShelf) -> (any Error)? {
    do {
      if let living = try manager.livingCollection(forKey: cacheKey, of: T.self),
        living.isCommitted
      {
        // A provider shows the collection meanwhile. The live collection is edited after this
        // operation.
        _ = try place(in: living.committedModels)
        isLeft.withLock { $0 = true }
        _ = manager.perform(request, cacheKey, updatesCache: isWritten, context)
        return nil
      }
      let stored = try shelf.list(cacheKey).map { try T.elements($0, of: cacheKey) }
      let placed = try place(in: stored)
      isLeft.withLock { $0 = placed == nil }
      self.placed.withLock { $0 = placed }
      return nil
    } catch {
      return error
    }
  }

  func write(to shelf: MemoryShelf, _ scope: PipelineScope) {
    guard let placed = placed.withLock({ $0 }) else { return }
    // The update may have changed other elements of the list, so the list is read again.
    let stored = shelf.list(cacheKey)?.compactMap { $0 as? T } ?? []
    shelf.setList(cacheKey, to: placed.applied(to: stored), scope)
  }

  func finish(_ scope: PipelineScope) {
    // A provider may have requested the collection from the cache before this edit was announced.
    guard manager.isCached, isWritten else { return }
    let living = try? manager.livingCollection(forKey: cacheKey, of: T.self)
    living?.loadAgain(scope)
  }

  func fail(_ error: any Error, _ scope: PipelineScope) {}
}

extension ListRequest {
  /// Applies a change with valid positions to elements that no provider shows.
  fileprivate func applied(to list: [T]) -> [T] {
    var list = list
    _ = list.carryOut(plan(count: list.count), models)
    return list
  }
}

extension SimpleModel {
  /// Returns elements from the memory shelf in one type.
  ///
  /// - Throws: ``DataProviderError`` `typeCollision` if they have another type.
  static func elements(
    _ models: [any SimpleModel], of cacheKey: String
  ) throws(DataProviderError) -> [Self] {
    guard let elements = models as? [Self] else {
      throw DataProviderError.typeCollision(cacheKey, Self.self)
    }
    return elements
  }
}
