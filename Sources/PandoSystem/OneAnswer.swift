/// An answer for one waiting task; the first result counts, later ones are ignored.
package final class OneAnswer<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var result: Result<Value, any Error>?
  }

  private let state = Locked(State())

  /// Makes an answer without a result.
  package init() {}

  /// Resumes a continuation with the result, now or when there is one; called once.
  package func wait(_ continuation: CheckedContinuation<Value, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let result { continuation.resume(with: result) }
  }

  /// Sets the result, unless there is one already, and resumes the waiting task.
  package func finish(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      guard state.result == nil else { return nil }
      state.result = result
      return exchange(&state.continuation, with: nil)
    }
    continuation?.resume(with: result)
  }
}

extension OneAnswer {
  /// Waits for an answer, or for the cancellation of the task.
  ///
  /// - Parameter ask: Called at once, with a closure that takes the answer.
  /// - Returns: The answer.
  /// - Throws: The error that was the answer; `CancellationError` if the task is cancelled first.
  package static func wait(
    _ ask: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) async throws -> Value {
    let once = OneAnswer()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        once.wait(continuation)
        ask { once.finish($0) }
      }
    } onCancel: {
      once.finish(.failure(CancellationError()))
    }
  }
}
