import PandoModels
public import PandoProviders

/// Following the reads of a manager.
///
/// A result has the changes of this manager, of other managers over the same store, of providers, of plain
/// writes, of server answers, and of other processes. If the store does not have `followsOtherProcesses`,
/// those of other processes appear after a refresh of the container or a commit of this process.
///
/// If the context names a server, following begins with one read of the context. Changes that this read stores
/// arrive like any other change. With `.remote`, `.remoteOrLocal` and `.localOr` that read comes before the first
/// result, and its error ends the iteration. `.localThen` shows the local result at once, and continues without
/// a connection.
/// `.staleWhileRevalidate` shows a sufficient local result at once; the event handler receives errors of its
/// request.
///
/// An entity that breaks the contract of the context is left out, and enters as soon as it meets the contract. A
/// search reads the next store instead (``EntityContract``).
///
/// An entity that can't be decoded is left out; the event handler receives `undecodableEntity`
/// (``ManagerEvent``).
extension CoreManager {
  /// Follows an entity.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier.
  ///   - context: The stores to read.
  /// - Returns: The present entity, and the entity after each change; `nil` while there is none.
  public func follow(
    byID identifier: EntityIdentifier<E>, in context: ReadContext<E> = .local
  ) -> FollowedSequence<E?> {
    follow(byIDs: [identifier], in: context).first
  }

  /// Follows entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: The stores to read.
  /// - Returns: The entities that exist, in the order of the identifiers, now and after each change.
  public func follow(
    byIDs identifiers: [EntityIdentifier<E>], in context: ReadContext<E> = .local
  ) -> FollowedQuery<E> {
    var query = Query(ids: identifiers)
    query.order = [.identifiers(identifiers)]
    return follow(query, EntityRead(getting: identifiers), in: context)
  }

  /// Follows the result of a query.
  ///
  /// - Parameters:
  ///   - query: The query; an invalid one ends iterations with a `QueryError`.
  ///   - context: The stores to read.
  /// - Returns: The present result, and the result after each change.
  public func follow(
    _ query: Query<E>, in context: ReadContext<E> = .local
  ) -> FollowedQuery<E> {
    follow(query, EntityRead(searching: query), in: context)
  }

  /// Follows all entities of the type.
  ///
  /// - Parameter context: The stores to read.
  /// - Returns: The entities, in natural order, now and after each change.
  public func followAll(in context: ReadContext<E> = .local) -> FollowedQuery<E> {
    follow(.all, in: context)
  }

  /// Follows the first entity that matches a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: The stores to read.
  /// - Returns: The entity, now and after each change; `nil` while none matches.
  public func followFirst(
    of query: Query<E> = .all, in context: ReadContext<E> = .local
  ) -> FollowedSequence<E?> {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return follow(query, in: context).first
  }
}

extension CoreManager {
  /// Follows the answer to a question about the entities of a query.
  ///
  /// ```swift
  /// for try await open in issues.follow(.count, of: Query(filter: \.status == .open)) { badge.show(open) }
  /// ```
  /// Over a store on disk a commit changes the answer by the difference of the entities that it touched, as with
  /// `ModelStore.follow(_:of:)`. If the manager has no store on disk, or the context has a contract, each change of the
  /// result computes the answer anew.
  ///
  /// - Parameters:
  ///   - question: The question. An answer that can't be made, such as a sum that overflows, ends iterations with a
  ///     `QueryError`. Begin another iteration to continue.
  ///   - query: The query for its entities; an invalid one ends iterations with a `QueryError`.
  ///   - context: The stores to read.
  /// - Returns: The present answer, and the answer after each change that differs.
  public func follow<Answer: Equatable>(
    _ question: Question<E, Answer>, of query: Query<E>, in context: ReadContext<E> = .local
  ) -> FollowedSequence<Answer> { follow(question, of: query, in: context, isSame: ==) }

  /// Follows the answers to several questions about the entities of a query.
  ///
  /// - Parameters:
  ///   - questions: The questions, as in the form for a single one.
  ///   - query: The query for the entities; an invalid one ends iterations with a `QueryError`.
  ///   - context: The stores to read.
  /// - Returns: The present answers, and all of them after each change by which one differs.
  @_disfavoredOverload
  public func follow<each Answer: Equatable & Sendable>(
    _ questions: repeat Question<E, each Answer>, of query: Query<E>,
    in context: ReadContext<E> = .local
  ) -> FollowedSequence<(repeat each Answer)> {
    follow(Question.combined(repeat each questions), of: query, in: context) { old, new in
      for (old, new) in repeat (each old, each new) {
        guard old == new else { return false }
      }
      return true
    }
  }

  private func follow<Answer>(
    _ question: Question<E, Answer>, of query: Query<E>, in context: ReadContext<E>,
    isSame: @escaping @Sendable (Answer, Answer) -> Bool
  ) -> FollowedSequence<Answer> {
    guard context.contract == nil, feed == nil else {
      return follow(query, in: context).answers(to: question, isSame: isSame)
    }
    let line = Result<FollowedSource<LiveAnswer<E, Answer>>.Line, any Error> {
      let hub = try storeHub("no store in memory or on disk tells of changes of this type")
      return .init(begin: { hub.begin($0) }, shown: hub.shown)
    }
    let source = FollowedSource(
      line: line, scope: continuous, validator: context.accessValidator, prepare: stack.prepare,
      first: firstAnswer(EntityRead(searching: query), in: context)
    ) {
      try query.validate()
      return LiveAnswer(question, of: query)
    }
    return source.answers(to: question, isSame: isSame)
  }
}

extension CoreManager {
  private func follow(
    _ query: Query<E>, _ request: EntityRead<E>, in context: ReadContext<E>
  ) -> FollowedQuery<E> {
    let followed = AcceptedQuery(query, contract: context.contract)
    return FollowedQuery(followed, events: events) {
      FollowedSource(
        line: Result { try line() }, scope: continuous, validator: context.accessValidator,
        prepare: stack.prepare, first: firstAnswer(request, in: context), make: $0)
    }
  }

  /// The source of changes for queries.
  private func line() throws -> FollowedSource<LiveQuery<E>>.Line {
    if let feed { return .init(begin: { feed.begin($0) }, shown: feed.shown) }
    let hub = try storeHub("no store in memory or on disk tells of changes of this type")
    return .init(begin: { hub.begin($0) }, shown: hub.shown)
  }

  /// The hub of the store on disk.
  ///
  /// - Parameter reason: The message of the error if there is no such store.
  /// - Returns: The hub.
  /// - Throws: ``ManagerError`` `noStore` if the farthest local store is not on disk; `StoreError` or
  ///   `LMDBError` if it can't be read.
  func storeHub(_ reason: String) throws -> StoreHub {
    guard let store = stack.followedStore else {
      throw ManagerError(.noStore, E.modelTypeName, reason)
    }
    return try StoreHub.hub(of: store)
  }

  /// The request to send before or while a query is followed.
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

  /// Reads once.
  ///
  /// - Returns: The answer if it is not stored; `nil` if it is stored.
  private func answer(
    _ request: EntityRead<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E>? {
    let result = try await read(request, in: context)
    let isStored = context.source.remote.map { $0.strategy != .doNotPersist } ?? true
    return isStored && !stack.local.isEmpty ? nil : result
  }
}
