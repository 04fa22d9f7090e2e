/// The committed states of a provider, as an asynchronous sequence.
///
/// ```swift
/// for try await message in provider.values {
///   print(message?.text ?? "nothing")
/// }
/// ```
///
/// The first element is the state when the iteration begins, or a newer one. Each later element is
/// a newer state. A consumer that is slower than the commits skips states: it gets the newest one,
/// and nothing is buffered. The last committed state is always delivered.
///
/// The sequence does not retain the provider. It ends with the provider, with its manager, or when
/// the iterating task is cancelled. It throws if the provider could not follow the store.
///
/// Any number of tasks may iterate a sequence, any number of times. An iteration leaves nothing
/// behind when it ends, and holds no snapshot of the store. Use a delegate instead if each change
/// must be delivered separately.
public struct ProviderSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// An iteration fails if the provider can't follow the store.
  public typealias Failure = any Error

  private let source: any ObservationSource<Element>

  init(_ source: any ObservationSource<Element>) { self.source = source }

  /// Starts an iteration.
  ///
  /// - Returns: The iterator, for one task at a time.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observer: source.makeObserver())
  }

  /// Returns the elements of one iteration.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var observer: any Observer<Element>

    init(observer: any Observer<Element>) { self.observer = observer }

    /// Waits for the next element, on the caller's actor.
    ///
    /// - Returns: The newest state, if the iterator has not returned it before; `nil` at the end,
    ///   and when the task is cancelled.
    /// - Throws: The error that kept the provider from following the store. The iteration ends
    ///   then.
    /// - Complexity: The wait, and a comparison with the previous element: O(size of the model),
    ///   for a list as `CollectionChange.difference(from:to:)`.
    public mutating func next() async throws -> Element? {
      try await observer.next(isolation: #isolation)
    }

    /// Waits for the next element.
    ///
    /// - Parameter actor: The caller's actor.
    /// - Returns: The newest state, if the iterator has not returned it before; `nil` at the end,
    ///   and when the task is cancelled.
    /// - Throws: The error that kept the provider from following the store. The iteration ends
    ///   then.
    /// - Complexity: The wait, and a comparison with the previous element: O(size of the model),
    ///   for a list as `CollectionChange.difference(from:to:)`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Element? {
      try await observer.next(isolation: actor)
    }
  }
}
