/// What a provider shows, committed step after committed step, as an asynchronous sequence.
///
/// ```swift
/// for try await message in provider.values {
///   print(message?.text ?? "nothing")
/// }
/// ```
///
/// The first element is the state when the iteration begins, or a newer one. Then comes each newer
/// state; whoever is slower than the commits gets the newest one and not those between, so nothing piles
/// up. The last committed state always comes. The provider is not kept alive: the sequence ends with
/// it, with its manager, or when the iterating task is cancelled; it throws when the provider could
/// not follow the store.
///
/// A sequence can be iterated any number of times, by any number of tasks. An iteration that ends
/// leaves nothing behind; none holds a snapshot of the store.
public struct ProviderSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// Iterations end by an error when the provider can't follow the store.
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
    /// - Returns: The newest state, if it has not been returned before; `nil` at the end, and when the
    ///   task is cancelled.
    /// - Throws: What kept the provider from following the store; the iteration is over then.
    /// - Complexity: The wait, and the comparison with the element before: O(size of the model), for a list as
    ///   `CollectionChange.difference(from:to:)`.
    public mutating func next() async throws -> Element? {
      try await observer.next(isolation: #isolation)
    }

    /// Waits for the next element.
    ///
    /// - Parameter actor: Where the caller runs.
    /// - Returns: The newest state, if it has not been returned before; `nil` at the end, and when the
    ///   task is cancelled.
    /// - Throws: What kept the provider from following the store; the iteration is over then.
    /// - Complexity: The wait, and the comparison with the element before: O(size of the model), for a list as
    ///   `CollectionChange.difference(from:to:)`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Element? {
      try await observer.next(isolation: actor)
    }
  }
}
