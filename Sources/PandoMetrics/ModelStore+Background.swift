import PandoReplication
public import PandoStore
import PandoSystem

/// How far a copy or a dump has come.
///
/// ```swift
/// try await store.copy(to: "backup") { progress in
///   print(Int(progress.fraction * 100), "%")
/// }
/// ```
///
/// A dump counts nodes. A copy counts bytes, each twice: when it is written, and when it is checked.
public struct StoreProgress: Sendable {
  /// How many are done.
  public let completedCount: Int
  /// How many there are, as far as that is known when the work begins; at least as many as are done.
  public let totalCount: Int

  init(_ completed: Int, of total: Int) {
    completedCount = completed
    totalCount = max(completed, total)
  }

  /// How much is done, from 0 to 1.
  public var fraction: Double { totalCount == 0 ? 1 : Double(completedCount) / Double(totalCount) }
}

/// Long work for a task: on a thread of its own, told of its progress, and ended with its task.
extension ModelStore {
  /// Writes a copy of one committed version without blocking a thread of the caller's.
  ///
  /// - Parameters:
  ///   - destination: A directory that does not exist or is empty.
  ///   - compacting: Whether to leave free pages out.
  ///   - progress: Told how far the copy has come, about once a MiB; on the thread that copies.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled, and then there is no copy. A
  ///   copy that waits for a long write of another process ends behind that.
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
        if isDue { progress?(StoreProgress(completed, of: total)) }
        return !isCancelled()
      }
      guard isWhole else { throw CancellationError() }
    }
  }

  /// How many bytes of a copy lie between two calls of its progress closure.
  private static var copiedByteCountPerReport: Int { 1 << 20 }

  /// Checks the whole store without blocking a thread of the caller's.
  ///
  /// - Parameter progress: Told how far the check has come, about once for each thousand pages and each ten
  ///   thousand rows; on the thread that checks.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled.
  /// - Complexity: Reads the file twice.
  public func verify(
    progress: (@Sendable (VerificationProgress) -> Void)? = nil
  ) async throws -> VerificationReport {
    try Task.checkCancellation()
    return try await onThread(named: "pando.verify", path) { [self] isCancelled in
      try verify(progress: Self.ending(progress, isCancelled))
    }
  }

  /// Checks a store that may be too damaged to be opened, without blocking a thread of the caller's.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - progress: Told how far the check has come; on the thread that checks.
  /// - Returns: What was found; nothing is repaired.
  /// - Throws: As the synchronous form; `CancellationError` if the task is cancelled.
  /// - Complexity: As the synchronous form.
  public static func verify(
    path: String, progress: (@Sendable (VerificationProgress) -> Void)? = nil
  ) async throws -> VerificationReport {
    try Task.checkCancellation()
    return try await onThread(named: "pando.verify", path) { isCancelled in
      try verify(path: path, progress: ending(progress, isCancelled))
    }
  }

  private static func ending(
    _ progress: (@Sendable (VerificationProgress) -> Void)?,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) -> (VerificationProgress) throws -> Void {
    { step in
      if isCancelled() { throw CancellationError() }
      progress?(step)
    }
  }
}
