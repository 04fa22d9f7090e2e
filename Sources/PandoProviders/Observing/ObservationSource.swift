/// Where iterations begin.
package protocol ObservationSource<Element>: Sendable {
  associatedtype Element: Sendable

  /// Begins an iteration.
  func makeObserver() -> any Observer<Element>
}

/// One iteration.
package protocol Observer<Element> {
  associatedtype Element: Sendable

  /// Waits for the next element.
  ///
  /// - Returns: `nil` at the end, and when the task is cancelled.
  /// - Throws: What made the provider fail.
  mutating func next(isolation: isolated (any Actor)?) async throws -> Element?
}
