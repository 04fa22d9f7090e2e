import PandoReplication
public import PandoStore
import PandoSystem

/// Long operations for tasks: each runs on its own thread, reports progress and ends with its task.
extension ModelStore {
  /// Writes a copy of one committed version, and blocks no thread of the caller.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether the copy omits free pages.
  ///   - progress: Called about once per MiB, on the thread that copies.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled: no copy
  ///   remains. A copy that waits for a long write of another process ends after that write.
  /// - Complexity: O(size of the file).
  public func copy(
    to destination: String, compacting: Bool = false,
    progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) async throws {
    try Task.checkCancellation()
    try await onThread(named: "pando.copy", path) { [self] isCancelled in
      let told = Locked(0)
      let isWhole = try copy(to: destination, compacting: compacting) { completed, total in
        let isDue = told.withLock { told in
          guard completed - told >= Self.copiedByteCountPerReport || completed == total else {
            return false
          }
          told = completed
          return true
        }
        if isDue { progress?(StoreProgress(.copy, completed, of: total)) }
        return !isCancelled()
      }
      guard isWhole else { throw CancellationError() }
    }
  }

  /// The number of bytes between two calls of the progress closure.
  private static var copiedByteCountPerReport: Int { 1 << 20 }

  /// Checks the whole store, and blocks no thread of the caller.
  ///
  /// - Parameter progress: Called about once per thousand pages and per ten thousand rows, on the
  ///   thread that checks.
  /// - Returns: The findings; the check repairs nothing.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled.
  /// - Complexity: Reads the file twice.
  public func verify(
    progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) async throws -> VerificationReport {
    try Task.checkCancellation()
    return try await onThread(named: "pando.verify", path) { [self] isCancelled in
      try verify(progress: Self.ending(progress, isCancelled))
    }
  }

  /// Checks a store that may be too damaged to open, and blocks no thread of the caller.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - progress: Called during the check, on the thread that checks.
  /// - Returns: The findings; the check repairs nothing.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled.
  /// - Complexity: As the synchronous form.
  public static func verify(
    path: String, progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) async throws -> VerificationReport {
    try Task.checkCancellation()
    return try await onThread(named: "pando.verify", path) { isCancelled in
      try verify(path: path, progress: ending(progress, isCancelled))
    }
  }

  private static func ending(
    _ progress: (@Sendable (StoreProgress) -> Void)?,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) -> (StoreProgress) throws -> Void {
    { step in
      if isCancelled() { throw CancellationError() }
      progress?(step)
    }
  }
}
