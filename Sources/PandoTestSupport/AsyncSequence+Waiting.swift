/// Waiting for an element of a followed query, entity or graph.
extension AsyncSequence {
  /// Waits for an element that meets a condition, starting with the present one.
  ///
  /// The wait has no time limit: give the test one.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The first element that meets the condition.
  /// - Throws: The error that ends the sequence; `FollowedEnd` if it ends without one.
  public func value(
    where condition: (Element) throws -> Bool
  ) async throws -> Element {
    for try await element in self where try condition(element) { return element }
    throw FollowedEnd()
  }
}

/// The error of a wait whose sequence ended before the element arrived.
///
/// ```swift
/// do {
///   _ = try await recorder.element { $0.count == 2 }
/// } catch is FollowedEnd {
///   print("two books never came", recorder.elements)
/// }
/// ```
///
/// - Note: Any thread.
public struct FollowedEnd: Error, CustomStringConvertible {
  init() {}

  /// A description of the error.
  public var description: String { "the sequence ended before the value came" }
}
