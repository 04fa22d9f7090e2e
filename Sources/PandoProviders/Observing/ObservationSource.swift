/// Starts iterations of a sequence.
package protocol ObservationSource<Element>: Sendable {
  associatedtype Element: Sendable

  /// Starts an iteration.
  func makeObserver() -> any Observer<Element>
}

/// One iteration.
package protocol Observer<Element> {
  associatedtype Element: Sendable

  /// Waits for the next element.
  ///
  /// - Returns: `nil` at the end, and when the task is cancelled.
  /// - Throws: The error that made the provider fail.
  mutating func next(isolation: isolated (any Actor)?) async throws -> Element?
}
