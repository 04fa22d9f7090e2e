/// The states of something followed, as an asynchronous sequence: a model, an answer, a list, a graph or a provider.
///
/// ```swift
/// for try await message in provider.values {
///   print(message?.text ?? "nothing")
/// }
/// ```
///
/// The first element is the present state. Each later element is a newer state that differs. A slow iteration
/// gets the newest state and none between, so no elements pile up. The last committed state always arrives.
/// Use a delegate instead if each change must be delivered separately.
///
/// The sequence ends if the iterating task is cancelled. It throws if the state can't be read, or if a server
/// has answered with an error. A sequence of a provider does not retain the provider, and ends with it or its
/// manager.
///
/// Any number of tasks can iterate a sequence, any number of times; they share the work. An iteration holds
/// no snapshot of the store.
public struct FollowedSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// An iteration ends with an error if the state can't be read.
  public typealias Failure = any Error

  private let source: any ObservationSource<Element>

  package init(_ source: any ObservationSource<Element>) { self.source = source }

  /// Begins an iteration.
  ///
  /// - Returns: The iterator, for one task at a time.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observer: source.makeObserver())
  }

  /// The iterator of one iteration.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var observer: any Observer<Element>

    init(observer: any Observer<Element>) { self.observer = observer }

    /// Waits for the next element, on the caller's actor.
    ///
    /// - Returns: The newest state, if it differs from the last one; `nil` at the end and if the task is
    ///   cancelled.
    /// - Throws: The reason why the state can't be read; the iteration has ended then.
    /// - Complexity: The wait, and O(*m*) to compare *m* entities, or the size of a model, with the last state;
    ///   for the changes of a list, `CollectionChange.difference(from:to:)`.
    public mutating func next() async throws -> Element? {
      try await observer.next(isolation: #isolation)
    }

    /// Waits for the next element.
    ///
    /// - Parameter actor: The caller's actor.
    /// - Returns: The newest state, if it differs from the last one; `nil` at the end and if the task is
    ///   cancelled.
    /// - Throws: The reason why the state can't be read; the iteration has ended then.
    /// - Complexity: As ``next()``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Element? {
      try await observer.next(isolation: actor)
    }
  }
}
