/// Waiting for an element of a followed query, entity or graph.
extension AsyncSequence {
  /// Waits for an element that meets a condition, starting with the present one.
  ///
  /// The wait has no time limit: give the test one.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The first element that meets the condition.
  /// - Throws: The error that ends the sequence; another one if it ends without an error.
  public func value(
    where condition: (Element) throws -> Bool
  ) async throws -> Element {
    for try await element in self where try condition(element) { return element }
    throw FollowedEnd()
  }
}

/// The error of a wait whose sequence ended before the element arrived.
package struct FollowedEnd: Error, CustomStringConvertible {
  package var description: String { "the sequence ended before the value came" }
}
