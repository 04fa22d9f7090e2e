import Foundation

/// Runs what blocks on a thread of its own: the pool that runs the tests runs what they wait for
/// too, and has few threads.
///
/// - Parameter body: May wait.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
public func blocking<Result: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
  let result = await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: Swift.Result(catching: body)) }
  }
  return try result.get()
}
