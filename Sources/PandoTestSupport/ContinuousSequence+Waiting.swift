public import PandoManagers

/// Waiting for what a followed query or graph comes to.
extension ContinuousSequence {
  /// Waits for an element, from the present one on.
  ///
  /// There is no limit of time: give the test one.
  ///
  /// - Parameter condition: Whether this is the one.
  /// - Returns: The first element that fulfils the condition.
  /// - Throws: What ends the sequence; `ContinuousEnd` if it ends without an error.
  public func value(
    where condition: (Element) throws -> Bool
  ) async throws -> Element {
    for try await element in self where try condition(element) { return element }
    throw ContinuousEnd()
  }
}

/// A sequence ended, and what was waited for had not come.
///
/// ```swift
/// do {
///   _ = try await recorder.element { $0.count == 2 }
/// } catch is ContinuousEnd {
///   print("two books never came", recorder.elements)
/// }
/// ```
public struct ContinuousEnd: Error, CustomStringConvertible {
  init() {}

  /// What happened.
  public var description: String { "the sequence ended before the value came" }
}
