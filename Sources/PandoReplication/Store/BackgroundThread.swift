package import PandoStore
import PandoSystem

/// Runs long work on a thread of its own, with a large stack, for a task that waits for it.
///
/// - Parameters:
///   - name: The thread's, of at most 15 bytes.
///   - path: The directory of the store that the work is for.
///   - body: The work. It asks `isCancelled` now and then, and gives up if its task has been cancelled.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws; `StoreError` `engine` without room for a thread.
package func onThread<Result: Sendable>(
  named name: String, _ path: String,
  _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Result
) async throws -> Result {
  let isCancelled = Locked(false)
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      let status = tryStartingThread(named: name, stackSizeInBytes: LargeStack.byteCount) {
        LargeStack.noteCurrent()
        continuation.resume(
          with: Swift.Result { try body { isCancelled.withLock(\.self) } })
      }
      if status != 0 { continuation.resume(throwing: StoreError.noThread(path, status)) }
    }
  } onCancel: {
    isCancelled.withLock { $0 = true }
  }
}

extension StoreError {
  /// The system has no room for one more thread with a large stack: `pthread_create` has returned `status`.
  package static func noThread(_ path: String, _ status: CInt) -> StoreError {
    StoreError(
      .engine, path,
      "the system has no room for one more thread, with a stack of \(LargeStack.byteCount >> 20) MiB: "
        + "error \(status)")
  }
}
