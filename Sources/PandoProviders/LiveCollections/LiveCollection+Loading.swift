import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

/// A caller that waits for the answer of the store or cache.
struct ListWaiter<T: SimpleModel>: Sendable {
  /// Called when loading ends, with true if the collection exists.
  let settle: @Sendable (Bool) -> Void
  /// Called on the delivery target.
  let answer: @Sendable (Result<[T]?, any Error>) -> Void
}

/// The next step of a fetch.
private enum FetchStart<T: SimpleModel> {
  case retired
  case answer([T])
  case load
  case wait
}

extension LiveCollection {
  /// Returns true if a static call is carried out in this collection instead of the store.
  func takes(_ request: ListRequest<T>) -> Bool {
    state.withLock { state in
      if case .set = request { return true }
      return state.isKnown && (state.isPresent || request.creates)
    }
  }

  /// Answers with the elements, after they are loaded.
  ///
  /// - Returns: `false` if the collection is being removed.
  func fetch(context: (any Sendable)?, _ waiter: ListWaiter<T>) -> Bool {
    let next = state.withLock { state -> FetchStart<T> in
      if state.isRetired { return .retired }
      if state.isPresent, state.isKnown { return .answer(state.list.models) }
      addIfNeeded(&state)
      state.waiters.append(waiter)
      guard state.waiters.count == 1 else { return .wait }
      guard manager.isMemoryOnly else { return .load }
      // Queued under the lock, so that an edit of the collection is queued behind its load.
      load(readsFirst: true)
      return .wait
    }
    switch next {
    case .retired: return false
    case .answer(let models):
      waiter.settle(true)
      manager.consistencyManager.deliverer.enqueue { waiter.answer(.success(models)) }
    case .load: load(readsFirst: true, context: context)
    case .wait: break
    }
    return true
  }

  /// Loads the elements from the store or cache.
  ///
  /// - Parameters:
  ///   - readsFirst: As with ``StoreBridge/load(_:readsFirst:)``.
  ///   - context: Passed to a custom cache.
  ///   - scope: The pipeline, if the caller runs there.
  func load(readsFirst: Bool, context: (any Sendable)? = nil, _ scope: PipelineScope? = nil) {
    switch manager.backing {
    case .memory(let shelf):
      manager.consistencyManager.enqueue { self.load(from: shelf, $0) }
    case .store(let bridge):
      if let cacheKey { bridge.load(CollectionLoad(self, cacheKey), readsFirst: readsFirst) }
    case .cache(let cache) where cacheKey != nil || context != nil:
      load(from: cache, context, scope)
    case .cache: break
    }
  }

  /// Moves the elements from the memory shelf, which keeps the elements of unused collections.
  private func load(from shelf: MemoryShelf, _ scope: PipelineScope) {
    guard let cacheKey else { return finishLoad(.success(nil), since: nil, scope) }
    let kept = shelf.list(cacheKey)
    let result = Result<[T]?, any Error> { try kept.map { try T.elements($0, of: cacheKey) } }
    finishLoad(result, since: nil, scope)
    if case .success(_?) = result { shelf.setList(cacheKey, to: nil, scope) }
  }

  private func load(
    from cache: CacheAccess, _ context: (any Sendable)?, _ scope: PipelineScope?
  ) {
    let consistency = manager.consistencyManager
    let editCount = state.withLock { $0.editCount }
    let joinsSince = Locked<UInt64>(0)
    if let scope {
      joinsSince.withLock { $0 = scope.beginJoin() }
    } else {
      consistency.enqueue { scope in joinsSince.withLock { $0 = scope.beginJoin() } }
    }
    cache.read(cacheKey) { [cacheKey] cache in
      try await cache.collection(orContext: cacheKey, as: T.self, context)
    } completion: { [self] result in
      consistency.enqueue { [self] scope in
        let number = joinsSince.withLock { $0 }
        // The answer may or may not contain an edit made meanwhile: the edit may not have
        // reached the cache yet.
        let isEdited = state.withLock { state in
          (!state.isLoaded || state.isOutOfStep) && state.editCount != editCount
        }
        // An element that was deleted and set again is in the list only if an edit has added it.
        let mayBeGone = (try? result.get())?.contains { model in
          model.modelIdentifier.map { scope.hasReturned($0, since: number) } ?? false
        }
        if isEdited || mayBeGone ?? false || !scope.canJoin(since: number) {
          load(from: cache, context, scope)
        } else {
          finishLoad(result, since: number, scope)
        }
        scope.endJoin()
      }
    }
  }

  /// Reads the committed elements again.
  func reload(_ scope: PipelineScope) {
    state.withLock { $0.isOutOfStep = true }
    load(readsFirst: true, scope)
  }

  /// Reads the elements after an edit that was queued for the cache without this collection.
  ///
  /// Called on the pipeline, after the edit was announced to the cache. A running load is repeated.
  func loadAgain(_ scope: PipelineScope) {
    let isLoaded = state.withLock { state in
      state.editCount += 1
      return state.isLoaded
    }
    if isLoaded { reload(scope) }
  }

  /// Shows the loaded elements, unless others were loaded meanwhile, and answers the waiting
  /// callers.
  ///
  /// Called on the pipeline. The first load sends no notification.
  ///
  /// - Parameters:
  ///   - result: The loaded elements.
  ///   - hidden: The elements that can't be decoded.
  ///   - number: The join number of the request to a cache; `nil` otherwise.
  ///   - scope: Publishes the elements.
  func finishLoad(
    _ result: Result<[T]?, any Error>, besides hidden: HiddenElements = HiddenElements(),
    since number: UInt64?, _ scope: PipelineScope
  ) {
    let isNeeded = state.withLock { !$0.isLoaded || $0.isOutOfStep || !$0.isCommittedPresent }
    if isNeeded, case .success(let models) = result {
      hide(hidden)
      var change = ListUpdate<T>(update: LiveUpdate())
      change.read = joined(models, since: number, scope)
      let (isLoaded, isApart) = state.withLock { ($0.isLoaded, $0.stored.isApart) }
      if !isLoaded { change.telling = .nobody }
      scope.publish([stageWhole(change, isApart: isApart, scope)])
    }
    let (waiters, data) = state.withLock { state in
      (exchange(&state.waiters, with: []), state.isPresent ? state.list.models : nil)
    }
    let answer: Result<[T]?, any Error>
    if case .failure(let error) = result, data == nil {
      answer = .failure(error)
    } else {
      answer = .success(data)
    }
    let deliverer = manager.consistencyManager.deliverer
    for waiter in waiters {
      waiter.settle(data != nil)
      deliverer.enqueue { waiter.answer(answer) }
    }
    retireIfUnused()
  }

  /// Undoes a failed edit; called on the pipeline.
  func takeBack(_ operation: ListOperation<T>, _ scope: PipelineScope) {
    var update = LiveUpdate()
    update.context = operation.context
    var staged = StagedList(self, update)
    let isPending = state.withLock { $0.pending.contains { $0.operation === operation } }
    guard isPending else { return }
    staged.structure = .failed(operation)
    scope.publish([staged])
    // The elements that the edit was to replace were never loaded.
    if state.withLock({ !$0.isLoaded && $0.pending.isEmpty && $0.waiters.isEmpty }) {
      load(readsFirst: true, scope)
    }
    retireIfUnused()
  }
}

/// The load of a collection from a store.
final class CollectionLoad<T: SimpleModel>: StoreLoad {
  private let collection: LiveCollection<T>
  private let cacheKey: String
  private let found = Locked(ListContents<T>())

  init(_ collection: LiveCollection<T>, _ cacheKey: String) {
    self.collection = collection
    self.cacheKey = cacheKey
  }

  func read(_ snapshot: ModelSnapshot) throws {
    let contents = try snapshot.contents(cacheKey, as: T.self)
    found.withLock { $0 = contents }
  }

  var keys: [ByteString] {
    let found = found.withLock { $0 }
    return [ByteString(cacheKey)] + (found.models ?? []).flatMap(\.nodeIdentifiers)
      + found.hidden.nodes
  }

  var isMiss: Bool { found.withLock { $0.models == nil } }

  func finish(_ error: (any Error)?, _ scope: PipelineScope) {
    let found = found.withLock { $0 }
    var result = error.map { .failure($0) } ?? Result<[T]?, any Error>.success(found.models)
    // If no element can be decoded, the list has another type. The fetch fails.
    if found.models?.isEmpty ?? false, let first = found.hidden.records.first,
      !collection.isCommitted
    {
      result = .failure(first.error)
    }
    collection.finishLoad(result, besides: found.hidden, since: nil, scope)
  }
}
