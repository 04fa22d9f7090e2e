import Synchronization

/// Brings what a task came to to the thread that waits for it.
final class TaskOutcome<Value: Sendable>: Sendable {
  private let state = Mutex<Result<Value, any Error>?>(nil)

  /// Runs the work of the task.
  func run(_ body: () async throws -> Value) async {
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    state.withLock { $0 = result }
  }

  /// Returns the result of the work.
  ///
  /// *Precondition:* the task has ended.
  ///
  /// - Returns: The value.
  /// - Throws: The error of the work.
  func value() throws -> Value {
    guard let result = state.withLock({ $0 }) else {
      preconditionFailure("the task has not ended")
    }
    return try result.get()
  }
}
