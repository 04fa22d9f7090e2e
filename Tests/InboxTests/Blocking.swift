import Foundation

/// Runs what blocks on a thread of its own: the pool that runs the tests runs the servers' answers
/// too, and has few threads.
///
/// - Parameter body: May wait.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
func blocking<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
  }
}
