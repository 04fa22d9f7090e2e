import PandoProviders

/// What a query or a graph shows, commit after commit, as an asynchronous sequence.
///
/// ```swift
/// for try await result in books.continuousSearch(withQuery: .all).values {
///   print(result.entities.map(\.title))
/// }
/// ```
///
/// The first element is the present state. Then comes each newer state that is different; whoever is
/// slower than the commits gets the newest one and not those between, so nothing piles up. The last
/// committed state always comes. The sequence ends when the iterating task is cancelled, and throws
/// when the state can no longer be known: an entity that can't be decoded, a remote that answered
/// with an error.
///
/// A sequence can be iterated any number of times, by any number of tasks; they share the work. An
/// iteration that ends leaves nothing behind; none holds a snapshot of the store.
public struct ContinuousSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// Iterations end by an error when the state can't be known any more.
  public typealias Failure = any Error

  private let source: any ObservationSource<Element>

  init(_ source: any ObservationSource<Element>) { self.source = source }

  /// Begins an iteration.
  ///
  /// - Returns: What gives the elements, for one task at a time.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observer: source.makeObserver())
  }

  /// Gives the elements of one iteration.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var observer: any Observer<Element>

    init(observer: any Observer<Element>) { self.observer = observer }

    /// Waits for the next element, where the caller runs.
    ///
    /// - Returns: The newest state, if it is not what was returned before; `nil` at the end, and when
    ///   the task is cancelled.
    /// - Throws: Why the state can't be known any more; the iteration is over then.
    /// - Complexity: The wait, and O(*m*) for *m* entities that are shown: they are compared with those before.
    ///   Of ``ContinuousQuery/changes`` O(*m* log *m*).
    public mutating func next() async throws -> Element? {
      try await observer.next(isolation: #isolation)
    }

    /// Waits for the next element.
    ///
    /// - Parameter actor: Where the caller runs.
    /// - Returns: The newest state, if it is not what was returned before; `nil` at the end, and when
    ///   the task is cancelled.
    /// - Throws: Why the state can't be known any more; the iteration is over then.
    /// - Complexity: The wait, and O(*m*) for *m* entities that are shown: they are compared with those before.
    ///   Of ``ContinuousQuery/changes`` O(*m* log *m*).
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Element? {
      try await observer.next(isolation: actor)
    }
  }
}
