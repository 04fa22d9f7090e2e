public import PandoModels
import PandoProviders

/// A query whose result is followed, change after change.
///
/// It is the description of something to iterate over and costs nothing until somebody does.
///
/// ```swift
/// for try await books in manager.continuousSearch(withQuery: recent).values { show(books.entities) }
/// ```
/// The result holds what the filter, the order, the offset and the limit say after every change, with
/// entities that come to match and without those that no longer do. Every task that iterates gets
/// every newest result; the work is done once, and ends with the last iteration.
public struct ContinuousQuery<E: Queryable>: Sendable {
  /// What is followed.
  public let query: Query<E>
  let source: FollowedSource<LiveQuery<E>>

  init(_ query: Query<E>, _ source: FollowedSource<LiveQuery<E>>) {
    self.query = query
    self.source = source
  }

  /// The result, now and after each change.
  public var values: ContinuousSequence<QueryResult<E>> {
    elements { result, _, _ in result }
  }

  /// The result, now and after each change, with what has changed since the element before.
  ///
  /// Whoever is slower than the changes gets one that leads exactly from the result it got before to
  /// the newest one.
  public var changes: ContinuousSequence<ContinuousChange<E>> {
    elements { result, previous, context in
      let change = previous.map {
        CollectionChange.difference(from: $0.entities, to: result.entities)
      }
      return ContinuousChange(
        result: result, change: change ?? .reset, context: previous == nil ? nil : context)
    }
  }

  /// The first entity of the result, now and after each change; `nil` while there is none.
  public var first: ContinuousSequence<E?> {
    elements { result, previous, _ in
      if let previous, previous.first == result.first { return nil }
      return .some(result.first)
    }
  }

  /// What a window shows to who began with an access.
  func result(of window: QueryWindow<E>, for access: UserAccess?) -> QueryResult<E> {
    source.allows(access) ? QueryResult(window.shown, groupedBy: query.groupedBy) : .empty
  }

  /// Makes elements of results.
  ///
  /// - Parameter element: Gets a result, the one that the observer has got before, and what the writer
  ///   passed along; returns `nil` if there is nothing to tell.
  /// - Returns: The elements.
  private func elements<Element: Sendable>(
    _ element: @escaping @Sendable (QueryResult<E>, QueryResult<E>?, (any Sendable)?) -> Element?
  ) -> ContinuousSequence<Element> {
    ContinuousSequence(
      FollowedObservation(source: source) { [self] in
        let access = source.access
        var seen: QueryResult<E>?
        return { window, context in
          let result = result(of: window, for: access)
          if let seen, seen == result { return nil }
          defer { seen = result }
          return element(result, seen, context)
        }
      })
  }
}

/// A change of a query's result.
///
/// ```swift
/// for try await step in books.continuousSearch(withQuery: .all).changes {
///   print(step.result.count, step.change, step.context as Any)
/// }
/// ```
public struct ContinuousChange<E: Queryable>: Sendable {
  /// The result after the change.
  public let result: QueryResult<E>
  /// What happened to the result that the observer got before, position by position.
  ///
  /// In the first element of an iteration that is `reset`. Several changes that an observer was too
  /// slow for are told as one.
  public let change: CollectionChange
  /// What the writer passed along; `nil` in the first element of an iteration, and of several changes
  /// the last one's.
  public let context: (any Sendable)?
}
