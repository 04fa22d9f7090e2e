/// An answer that somebody waits for: the first one counts, others are ignored.
package final class OneAnswer<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var result: Result<Value, any Error>?
  }

  private let state = Locked(State())

  /// Makes an answer that has not come.
  package init() {}

  /// Lets somebody wait; one does.
  package func wait(_ continuation: CheckedContinuation<Value, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let result { continuation.resume(with: result) }
  }

  /// Gives the answer; the first one counts.
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
  /// Waits for an answer, or for the end of the task.
  ///
  /// - Parameter ask: Gets what is to be called with the answer.
  /// - Returns: The answer.
  /// - Throws: The error that was the answer; `CancellationError`.
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
