import Foundation
public import PandoStore

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

extension ModelStore {
  /// The blocking form of `read(_:)`, for `async` tests whose closure keeps it on their thread.
  ///
  /// - Parameter body: As there.
  /// - Returns: What `body` returns.
  /// - Throws: As `read(_:)`.
  public func readAndWait<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    try read(body)
  }
}
