public import PandoModels
public import PandoProviders
import PandoSystem

/// A followed query: its result now, and after each change.
///
/// The value itself costs nothing; work begins with the first iteration or ``QueryDataProvider``.
///
/// ```swift
/// for try await books in manager.follow(recent) { show(books.entities) }
/// ```
/// After each change the result has the entities that a search of the stored ones finds, in its order, without
/// those that can't be decoded or that break the contract of the context.
/// Each iterating task gets the newest result. All iterations share the work, which ends with the last one.
/// Use ``QueryDataProvider`` for a delegate.
public struct FollowedQuery<E: Queryable>: AsyncSequence, Sendable {
  /// The present result, and the result after each change.
  public typealias Element = QueryResult<E>
  /// An iteration ends with an error if the state can't be read.
  public typealias Failure = any Error

  /// The followed query.
  public let query: Query<E>
  private let followed: AcceptedQuery<E>
  let source: FollowedSource<LiveQuery<E>>
  /// Follows identifiers and order only.
  private let keySource: FollowedSource<LiveQuery<E>>

  /// Makes a followed query.
  ///
  /// - Parameters:
  ///   - followed: The query.
  ///   - events: Receives what the live query reports.
  ///   - makeSource: Makes a source from the function that makes its live query.
  init(
    _ followed: AcceptedQuery<E>, events: ManagerEventHandler?,
    _ makeSource: (_ make: @escaping @Sendable () throws -> LiveQuery<E>) -> FollowedSource<
      LiveQuery<E>
    >
  ) {
    query = followed.query
    self.followed = followed
    func source(keepsModels: Bool) -> FollowedSource<LiveQuery<E>> {
      makeSource {
        try followed.query.validate()
        return LiveQuery(followed, keepsModels: keepsModels, events: events)
      }
    }
    self.source = source(keepsModels: true)
    keySource = source(keepsModels: false)
  }

  /// How commits find the query, and what it keeps.
  public var plan: FollowedPlan { FollowedPlan(followed) }

  /// Begins an iteration.
  ///
  /// - Returns: The iterator, for one task at a time.
  public func makeAsyncIterator() -> FollowedSequence<QueryResult<E>>.AsyncIterator {
    elements { result, _, _, _ in result }.makeAsyncIterator()
  }

  /// The present result, and the result after each change, with the change since the last element.
  ///
  /// A slow iteration gets one change that leads from its last result to the newest one.
  public var changes: FollowedSequence<FollowedChange<E>> {
    elements { result, previous, commit, context in
      FollowedChange(
        result: result, change: previous.map { result.change(since: $0) } ?? .reset,
        commit: commit?.number, author: previous == nil ? nil : commit?.author,
        context: previous == nil ? nil : context, former: previous)
    }
  }

  /// The first entity of the result now, and after each change; `nil` while there is none.
  public var first: FollowedSequence<E?> {
    elements { result, previous, _, _ in
      if let previous, previous.first == result.first { return nil }
      return .some(result.first)
    }
  }

  /// The keys of the result, in its order, now and after each change of them, without the models.
  ///
  /// For long results: it keeps an identifier and the values of the order for each entity. Read the models that are on a
  /// page by `snapshot[key]` or `Query(filter: .keys(page))`.
  ///
  /// ```swift
  /// for try await step in store.follow(Query<Book>(order: [.ascending(\.title)])).keys {
  ///   table.apply(step.change, count: step.count)
  /// }
  /// ```
  /// - Complexity: A commit costs O(log *n*) for each entity that enters, leaves or moves among *n*.
  public var keys: FollowedSequence<FollowedKeys<E>> {
    let source = keySource
    return FollowedSequence(
      FollowedObservation(source: source) {
        let access = source.access
        var seen: FollowedKeys<E>?
        return { window, _ in
          let keys = FollowedKeys<E>(
            source.allows(access) ? window.shownRows : ChunkedArray([]), seen,
            window.commit?.number)
          if seen != nil, keys.change == .changes([]) { return nil }
          defer { seen = keys }
          return keys
        }
      })
  }

  /// The answers to a question about the results, each made of the whole result.
  func answers<Answer>(
    to question: Question<E, Answer>, isSame: @escaping @Sendable (Answer, Answer) -> Bool
  ) -> FollowedSequence<Answer> {
    elements { result, previous, _, _ in
      let answer = try question.answer(result.entities)
      if let previous, isSame(try question.answer(previous.entities), answer) { return nil }
      return answer
    }
  }

  /// The result that a window shows for an access.
  func result(of window: QueryWindow<E>, for access: UserAccess?) -> QueryResult<E> {
    guard source.allows(access) else { return .empty }
    return window.sharedResult ?? QueryResult(window.shown, groupedBy: query.groupedBy)
  }

  /// Makes elements of results.
  ///
  /// - Parameter element: Receives a result, the last one of the observer, the commit, and the write's context. Returns
  ///   `nil` if there is no new element.
  /// - Returns: The elements.
  private func elements<Element: Sendable>(
    _ element:
      @escaping @Sendable (
        QueryResult<E>, QueryResult<E>?, CommitOrigin?, (any Sendable)?
      ) throws -> Element?
  ) -> FollowedSequence<Element> {
    FollowedSequence(
      FollowedObservation(source: source) { [self] in
        let access = source.access
        var seen: QueryResult<E>?
        return { window, context in
          let result = result(of: window, for: access)
          if let seen, seen == result { return nil }
          defer { seen = result }
          return try element(result, seen, window.commit, context)
        }
      })
  }
}

/// A change of a query's result.
///
/// ```swift
/// for try await step in books.follow(.all).changes {
///   print(step.result.count, step.change, step.commit as Any)
///   guard case .changes(let changes) = step.change else { continue }
///   for case .update(let index) in changes { print(step.updatedFields(at: index)) }
/// }
/// ```
public struct FollowedChange<E: Queryable>: Sendable {
  /// The result after the change.
  public let result: QueryResult<E>
  /// The change from the observer's last result to this one.
  ///
  /// It is `reset` in the first element of an iteration. Several changes since the last element are joined.
  public let change: CollectionChange
  /// The newest commit that was shown with the last change of the result; `nil` for entities that are not in a store on
  /// disk.
  ///
  /// Commits that are shown in one step count together, so it may be one that changed other models. Before the first
  /// change it is the commit at which the result was read.
  public let commit: CommitNumber?
  /// The opened store that made that commit, as `ChangeSet.author`; `nil` if unknown, and in the first element.
  public let author: String?
  /// The context of the newest write in the change; `nil` in the first element of an iteration.
  public let context: (any Sendable)?
  /// The observer's last result.
  fileprivate let former: QueryResult<E>?

  fileprivate init(
    result: QueryResult<E>, change: CollectionChange, commit: CommitNumber?, author: String?,
    context: (any Sendable)?, former: QueryResult<E>?
  ) {
    (self.result, self.change, self.context) = (result, change, context)
    (self.commit, self.author, self.former) = (commit, author, former)
  }

  /// The declared fields in which an updated entity differs from the observer's last result.
  ///
  /// A child is compared by its identifier. Lists differ if their elements or the order of these do; a list of values or
  /// of children has the name of the declared field, such as `labels[]`. A set or a map has no order, and may be named
  /// although it is equal. Values of several parts, such as a `URL` with a base, are not compared.
  ///
  /// - Parameter index: The position of the entity in ``result``.
  /// - Returns: The names of the fields, in the order of their declaration. Empty for an entity that is new or has not
  ///   changed, and if only the contents of children changed, or properties that are not declared as fields.
  /// - Complexity: O(*n*); for a query without a limit, that of the change.
  public func updatedFields(at index: Int) -> [String] {
    guard let (old, new) = former.flatMap({ result.update(at: index, since: $0) }) else {
      return []
    }
    return E.fields.filter { $0.value(of: old).differs(from: $0.value(of: new)) }.map(\.name)
  }
}
