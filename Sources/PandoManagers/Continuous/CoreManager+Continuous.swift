import PandoModels

/// What a manager reads, followed change by change.
///
/// A change counts whoever made it: this manager, another one over the same store, a provider, a plain
/// write of the store, or the answer of a server. Another process counts once the container is
/// refreshed, or this process commits something.
///
/// With a server in the context it is asked once for each query that begins to be followed, and what
/// it answers reaches those who follow like any other change. `.remote`, `.remoteOrLocal` and
/// `.localOr` wait for their first answer and end by its error. `.localThen` shows what is here at
/// once, and goes on without the server if there is no connection. `.staleWhileRevalidate` shows what is here
/// at once, if that is enough, and what the server answers to it then; a failure is told to the event handler.
///
/// An entity that can't be decoded is left out until it can be, and told to the manager's event handler
/// (``ManagerEvent`` `undecodableEntity`).
extension CoreManager {
  /// Follows an entity.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: Which stores are asked.
  /// - Returns: The entity, now and after each change; `nil` while there is none.
  public func continuousGet(
    byID identifier: EntityIdentifier<E>, in context: ReadContext<E> = .local
  ) -> ContinuousSequence<E?> {
    continuousGet(byIDs: [identifier], in: context).first
  }

  /// Follows entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: Which stores are asked.
  /// - Returns: Those that there are, in the order of the identifiers, now and after each change.
  public func continuousGet(
    byIDs identifiers: [EntityIdentifier<E>], in context: ReadContext<E> = .local
  ) -> ContinuousQuery<E> {
    var query = Query(ids: identifiers)
    query.order = [.identifiers(identifiers)]
    return follow(query, EntityRead(getting: identifiers), in: context)
  }

  /// Follows the result of a query.
  ///
  /// - Parameters:
  ///   - query: The query; one that makes no sense ends iterations by a ``QueryError``.
  ///   - context: Which stores are asked.
  /// - Returns: The result, now and after each change.
  public func continuousSearch(
    withQuery query: Query<E>, in context: ReadContext<E> = .local
  ) -> ContinuousQuery<E> {
    follow(query, EntityRead(searching: query), in: context)
  }

  /// Follows all entities of the type.
  ///
  /// - Parameter context: Which stores are asked.
  /// - Returns: The entities, in natural order, now and after each change.
  public func continuousAll(in context: ReadContext<E> = .local) -> ContinuousQuery<E> {
    continuousSearch(withQuery: .all, in: context)
  }

  /// Follows the first entity that matches a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Which stores are asked.
  /// - Returns: The entity, now and after each change; `nil` while none matches.
  public func continuousFirst(
    for query: Query<E> = .all, in context: ReadContext<E> = .local
  ) -> ContinuousSequence<E?> {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return continuousSearch(withQuery: query, in: context).first
  }
}

extension CoreManager {
  private func follow(
    _ query: Query<E>, _ request: EntityRead<E>, in context: ReadContext<E>
  ) -> ContinuousQuery<E> {
    let followed = FollowedQuery(query, contract: context.contract)
    return ContinuousQuery(
      query,
      FollowedSource(
        line: Result { try line() }, scope: continuous, validator: context.accessValidator,
        prepare: stack.prepare, first: firstAnswer(request, in: context)
      ) { [events] in
        try query.validate()
        return LiveQuery(followed, events: events)
      })
  }

  /// What brings changes to queries.
  private func line() throws -> FollowedSource<LiveQuery<E>>.Line {
    if let feed { return .init(begin: { feed.begin($0) }, shown: feed.shown) }
    let hub = try storeHub("no store in memory or on disk tells of changes of this type")
    return .init(begin: { hub.begin($0) }, shown: hub.shown)
  }

  /// What follows the store on disk.
  ///
  /// - Parameter reason: What is said if there is none.
  /// - Returns: The hub.
  /// - Throws: ``ManagerError`` `noStore` if the farthest local store is not on disk; `StoreError` or
  ///   `LMDBError` when it can't be read.
  func storeHub(_ reason: String) throws -> StoreHub {
    guard let store = stack.followedStore else {
      throw ManagerError(.noStore, E.modelTypeName, reason)
    }
    return try StoreHub.hub(of: store)
  }

  /// What comes before a query is followed.
  func firstAnswer(
    _ request: EntityRead<E>, in context: ReadContext<E>
  ) -> FirstAnswer<E> {
    switch context.source {
    case .local: return .local
    case .localThen(let other):
      return .then { [self] in
        if let validator = context.accessValidator, validator.userAccess.level != .remote {
          return nil
        }
        do {
          return try await self.answer(request, in: context.with(source: other))
        } catch let failure as any RemoteFailure where failure.remoteFailureKind == .connection {
          return nil
        }
      }
    case .remote, .remoteOrLocal, .localOr, .staleWhileRevalidate:
      return .asked { [self] in try await self.answer(request, in: context) }
    }
  }

  /// Asks once.
  ///
  /// - Returns: What to show of an answer that is stored nowhere; `nil` if it is stored.
  private func answer(
    _ request: EntityRead<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E>? {
    let result = try await read(request, in: context)
    let isStored = context.source.remote.map { $0.strategy != .doNotPersist } ?? true
    return isStored && !stack.local.isEmpty ? nil : result
  }
}
