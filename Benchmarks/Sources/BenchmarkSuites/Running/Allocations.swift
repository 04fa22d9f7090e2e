import CPeerSupport

/// Counts allocations.
enum Allocations {
  /// Counts the allocations of all threads while a closure runs.
  ///
  /// - Parameters:
  ///   - operationCount: How many operations the closure does.
  ///   - body: The work.
  /// - Returns: Allocations for an operation.
  /// - Throws: The error of `body`.
  static func count(per operationCount: Int, _ body: () throws -> Void) rethrows -> Double {
    allocations_begin()
    defer { allocations_end() }
    try body()
    return Double(allocations_end()) / Double(operationCount)
  }
}
