import FoundationEssentials
import PandoConsistency
import PandoModels
import PandoStore
import PandoSystem

extension ModelHolder {
  typealias Answer = @Sendable (Result<(any SimpleModel)?, any Error>, PipelineScope) -> Void

  /// The number of the last set or fetch.
  var newestAction: UInt64 { state.withLock { $0.lastAction } }

  /// Returns the shown model, if it has this identifier.
  func held(_ identifier: String) -> (any SimpleModel)? {
    guard let shown = state.withLock({ $0.shown }),
      shown.modelIdentifier?.hasSameBytes(as: identifier) == true
    else { return nil }
    return shown
  }

  /// Loads a model from the store or cache and shows it, unless it is newer by then.
  ///
  /// `answer` is called once, on the pipeline, with the model that is shown then.
  func fetch(
    _ identifier: String, context: (any Sendable)?, listensWhenAbsent: Bool,
    _ answer: @escaping Answer
  ) {
    let request = FetchRequest(
      holder: self, identifier: identifier, action: beginFetch(),
      listensWhenAbsent: listensWhenAbsent, answer: answer)
    switch manager.backing {
    case .store(let bridge): bridge.load(StoreFetch(request), readsFirst: true)
    case .cache(let cache): fetch(request, from: cache, identifier, context)
    case .memory:
      manager.consistencyManager.enqueue { [type] scope in
        request.finish(.success(scope.liveModel(identifier, as: type)), scope)
      }
    }
  }

  private func beginFetch() -> UInt64 {
    state.withLock { state in
      attach(&state)
      state.lastAction += 1
      return state.lastAction
    }
  }

  /// Loads the model of a context from a cache and shows it, unless the provider has newer data by
  /// then.
  func fetch(from cache: CacheAccess, context: any Sendable, _ answer: @escaping Answer) {
    let action = beginFetch()
    let consistency = manager.consistencyManager
    cache.read(nil) { [type] cache in
      try await cache.find(nil, as: type, context)
    } completion: { [self] result in
      let request = FetchRequest(
        holder: self, identifier: "", action: action, listensWhenAbsent: false, answer: answer)
      guard case .success(let model?) = result, let identifier = model.modelIdentifier else {
        return consistency.enqueue { request.finish(result, $0) }
      }
      // Changes of this identifier since the request are not recorded. The second request records
      // them.
      fetch(request.forIdentifier(identifier), from: cache, nil, context)
    }
  }

  /// Waits for an identifier without loading it.
  func listen(to identifier: String) {
    if held(identifier) != nil { return }
    clear()
    let action = state.withLock { state in
      attach(&state)
      state.lastAction += 1
      state.makeRare().announced = identifier
      return state.lastAction
    }
    let request = FetchRequest(
      holder: self, identifier: identifier, action: action, listensWhenAbsent: true,
      tellsDelegate: true, answer: { _, _ in })
    if case .store(let bridge) = manager.backing {
      bridge.load(StoreFetch(request), readsFirst: false)
    } else {
      manager.consistencyManager.enqueue { request.finish(.success(nil), $0) }
    }
  }

  /// Loads a model from a cache.
  ///
  /// - Parameters:
  ///   - request: The fetch.
  ///   - cache: The cache.
  ///   - cacheKey: The key; `nil` to load the model of the context.
  ///   - context: Passed to the cache.
  ///   - scope: The pipeline, if the caller runs there.
  private func fetch(
    _ request: FetchRequest, from cache: CacheAccess, _ cacheKey: String?,
    _ context: (any Sendable)?, _ scope: PipelineScope? = nil
  ) {
    let fetch = CacheFetch(request.identifier, action: request.action)
    let consistency = manager.consistencyManager
    if let scope {
      begin(fetch, scope)
    } else {
      consistency.enqueue { [self] scope in begin(fetch, scope) }
    }
    cache.read(cacheKey) { cache in
      try await cache.find(cacheKey, as: request.holder.type, context)
    } completion: { result in
      consistency.enqueue { [self] scope in
        if cacheKey == nil, case .success(let model?) = result,
          let identifier = model.modelIdentifier,
          !identifier.hasSameBytes(as: fetch.identifier)
        {
          // The context now leads to another identifier.
          self.fetch(request.forIdentifier(identifier), from: cache, nil, context, scope)
        } else if fetch.isOvertaken {
          request.answer(.success(data), scope)
        } else if !scope.canJoin(since: fetch.joinsSince) {
          // The changes since the request are no longer recorded.
          self.fetch(request, from: cache, cacheKey, context, scope)
        } else if case .success(let model) = result {
          request.finish(loaded: fetch.isDeleted ? nil : model, scope) {
            scope.join($0, since: fetch.joinsSince)
          }
        } else {
          request.finish(result, scope)
        }
        end(fetch, scope)
      }
    }
  }

  private func begin(_ fetch: CacheFetch, _ scope: PipelineScope) {
    fetch.joinsSince = scope.beginJoin()
    state.withLock { $0.makeRare().fetches.append(fetch) }
    registerAbsent(fetch.identifier, scope)
  }

  private func end(_ fetch: CacheFetch, _ scope: PipelineScope) {
    scope.endJoin()
    let waitingFor = state.withLock { state in
      state.rare?.fetches.removeAll { $0 === fetch }
      return state.waitingFor
    }
    if waitingFor?.hasSameBytes(as: fetch.identifier) != true {
      unregisterAbsent(fetch.identifier, scope)
    }
  }

  /// Shows the answer to a fetch, unless the provider has newer data.
  ///
  /// - Returns: The answer, or the newer data.
  fileprivate func apply(
    _ tree: NewTree?, _ request: FetchRequest, _ scope: PipelineScope
  ) -> (any SimpleModel)? {
    let (base, waitingFor, isNewest) = state.withLock { state in
      (state.base, state.waitingFor, request.action > state.applied)
    }
    guard isNewest else { return data }
    guard tree != nil || request.listensWhenAbsent else { return nil }
    if let waitingFor { unregisterAbsent(waitingFor, scope) }
    if base == nil, let tree {
      scope.registerFirst(self, row: Self.treeRow, tree)
    } else {
      scope.register(self, row: Self.treeRow, old: base, new: tree?.root)
    }
    let awaited = tree == nil ? request.identifier : nil
    if let awaited { registerAbsent(awaited, scope) }
    let kind = StagedModel.Kind.answered(
      request.action, awaited: awaited, tells: request.tellsDelegate && tree != nil)
    scope.publish([StagedModels(self, kind, nil, model: tree?.root)])
    return data
  }
}

extension PipelineScope {
  /// Returns a node of the live trees in a type.
  func liveModel(_ identifier: String, as type: any SimpleModel.Type) -> (any SimpleModel)? {
    let key = ByteString(identifier)
    let found = liveModels(of: [key], asksListeners: false)[key]
    return found?.first { Swift.type(of: $0) == type }
  }
}

/// One fetch of one provider, from any source.
struct FetchRequest: Sendable {
  let holder: ModelHolder
  var identifier: String
  let action: UInt64
  let listensWhenAbsent: Bool
  var tellsDelegate = false
  let answer: ModelHolder.Answer

  /// Returns the same fetch for another identifier.
  func forIdentifier(_ identifier: String) -> FetchRequest {
    var request = self
    request.identifier = identifier
    return request
  }

  /// Joins a loaded model with the data of live trees, shows it, and answers.
  ///
  /// If the model was deleted in memory only, all that wait for it show it again.
  ///
  /// - Parameters:
  ///   - model: The model; `nil` if there is none.
  ///   - scope: The pipeline.
  ///   - join: Joins the model.
  ///   - other: Returns the model to show if there is none.
  func finish(
    loaded model: (any SimpleModel)?, _ scope: PipelineScope,
    join: (any SimpleModel) -> NewTree?, other: () -> (any SimpleModel)? = { nil }
  ) {
    let key = ByteString(identifier)
    let wasHidden = model != nil && scope.overlay.hides(key)
    if wasHidden { scope.overlay.release([key]) }
    let joined = model.flatMap(join)
    let shown = holder.apply(joined ?? other().map { NewTree($0) }, self, scope)
    if wasHidden, let joined {
      var update = LiveUpdate()
      update.addStored(joined.root, identifier)
      scope.apply(update)
    }
    answer(.success(shown), scope)
  }

  /// Shows the model found, and answers.
  func finish(_ result: Result<(any SimpleModel)?, any Error>, _ scope: PipelineScope) {
    switch result {
    case .failure(let error):
      // The model may exist, so the provider waits for the identifier.
      if listensWhenAbsent { _ = holder.apply(nil, self, scope) }
      answer(.failure(error), scope)
    case .success(let model):
      answer(.success(holder.apply(model.map { NewTree($0) }, self, scope)), scope)
    }
  }
}

/// A fetch from a store.
final class StoreFetch: StoreLoad {
  private let request: FetchRequest
  private let found = Locked<(any SimpleModel)?>(nil)

  init(_ request: FetchRequest) { self.request = request }

  func read(_ snapshot: ModelSnapshot) throws {
    let model = try snapshot.live(request.identifier, as: request.holder.type)
    found.withLock { $0 = model }
  }

  var keys: [ByteString] {
    [ByteString(request.identifier)] + (found.withLock { $0 }?.nodeIdentifiers ?? [])
  }

  var isMiss: Bool { found.withLock { $0 == nil } }

  func finish(_ error: (any Error)?, _ scope: PipelineScope) {
    if let error { return request.finish(.failure(error), scope) }
    request.finish(loaded: found.withLock { $0 }, scope) {
      scope.joinStored([$0])[0].map { NewTree($0) }
    } other: {
      // Other providers may show a model that was set in memory only.
      scope.overlay.isUsed ? scope.liveModel(request.identifier, as: request.holder.type) : nil
    }
  }
}
