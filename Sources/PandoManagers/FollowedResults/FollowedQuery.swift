public import PandoModels
public import PandoProviders

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
  let source: FollowedSource<LiveQuery<E>>

  init(_ query: Query<E>, _ source: FollowedSource<LiveQuery<E>>) {
    self.query = query
    self.source = source
  }

  /// Begins an iteration.
  ///
  /// - Returns: The iterator, for one task at a time.
  public func makeAsyncIterator() -> FollowedSequence<QueryResult<E>>.AsyncIterator {
    elements { result, _, _ in result }.makeAsyncIterator()
  }

  /// The present result, and the result after each change, with the change since the last element.
  ///
  /// A slow iteration gets one change that leads from its last result to the newest one.
  public var changes: FollowedSequence<FollowedChange<E>> {
    elements { result, previous, context in
      let change = previous.map { result.change(since: $0) }
      return FollowedChange(
        result: result, change: change ?? .reset, context: previous == nil ? nil : context)
    }
  }

  /// The first entity of the result now, and after each change; `nil` while there is none.
  public var first: FollowedSequence<E?> {
    elements { result, previous, _ in
      if let previous, previous.first == result.first { return nil }
      return .some(result.first)
    }
  }

  /// The answers to a question about the results, each made of the whole result.
  func answers<Answer>(
    to question: Question<E, Answer>, isSame: @escaping @Sendable (Answer, Answer) -> Bool
  ) -> FollowedSequence<Answer> {
    elements { result, previous, _ in
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
  /// - Parameter element: Receives a result, the last one of the observer, and the write's context. Returns
  ///   `nil` if there is no new element.
  /// - Returns: The elements.
  private func elements<Element: Sendable>(
    _ element:
      @escaping @Sendable (QueryResult<E>, QueryResult<E>?, (any Sendable)?) throws -> Element?
  ) -> FollowedSequence<Element> {
    FollowedSequence(
      FollowedObservation(source: source) { [self] in
        let access = source.access
        var seen: QueryResult<E>?
        return { window, context in
          let result = result(of: window, for: access)
          if let seen, seen == result { return nil }
          defer { seen = result }
          return try element(result, seen, context)
        }
      })
  }
}

/// A change of a query's result.
///
/// ```swift
/// for try await step in books.follow(.all).changes {
///   print(step.result.count, step.change, step.context as Any)
/// }
/// ```
public struct FollowedChange<E: Queryable>: Sendable {
  /// The result after the change.
  public let result: QueryResult<E>
  /// The change from the observer's last result to this one.
  ///
  /// It is `reset` in the first element of an iteration. Several changes since the last element are joined.
  public let change: CollectionChange
  /// The context of the newest write in the change; `nil` in the first element of an iteration.
  public let context: (any Sendable)?
}
