package import PandoStore
import PandoSystem

/// Runs long work for a task on a thread of its own, with a large stack.
///
/// - Parameters:
///   - name: The name of the thread, at most 15 bytes.
///   - path: The directory of the store, for errors.
///   - body: The work. It calls `isCancelled` repeatedly, and returns early if the task was cancelled.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`; `StoreError` `engine` if the system has no room for a thread.
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
  /// The system has no room for another thread with a large stack: `pthread_create` returned `status`.
  package static func noThread(_ path: String, _ status: CInt) -> StoreError {
    StoreError(
      .engine, path,
      "the system has no room for one more thread, with a stack of \(LargeStack.byteCount >> 20) MiB: "
        + "error \(status)")
  }
}
