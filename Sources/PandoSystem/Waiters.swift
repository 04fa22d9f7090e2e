/// Tasks that wait for an answer: part of the state behind a lock.
///
/// ```swift
/// let answer = try await state.wait(in: \.waiters) { state, _ in state.result.map { .success($0) } }
/// ```
/// A caller that brings the answer takes the tasks out under the lock and resumes them outside of it.
package struct Waiters<Answer: Sendable>: Sendable {
  /// Resumed with an answer or an error, once.
  package typealias Continuation = CheckedContinuation<Answer, any Error>

  fileprivate var continuations: [UInt64: Continuation] = [:]
  fileprivate var lastNumber: UInt64 = 0

  /// Begins without tasks.
  package init() {}

  /// How many tasks wait.
  package var count: Int { continuations.count }

  /// Takes all tasks out, in no order.
  ///
  /// - Complexity: O(1).
  package mutating func takeAll() -> some Collection<Continuation> {
    exchange(&continuations, with: [:]).values
  }

  /// Takes a task out.
  ///
  /// - Parameter number: The task's number.
  /// - Returns: `nil` if the task does not wait any more.
  /// - Complexity: O(1).
  package mutating func take(_ number: UInt64) -> Continuation? {
    continuations.removeValue(forKey: number)
  }
}

/// A lock and the value behind it: ``Locked`` or ``Monitor``.
package protocol ValueLock<Value>: Sendable {
  associatedtype Value

  /// Runs `body` while no other thread uses the value.
  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension Locked: ValueLock {}
extension Monitor: ValueLock {}

extension ValueLock {
  /// Waits until another thread resumes the calling task, or the task is cancelled.
  ///
  /// - Parameters:
  ///   - waiters: The place where the task waits.
  ///   - known: Looks, under the lock, whether there is an answer already; gets the number of the task.
  /// - Returns: The answer.
  /// - Throws: The error that was the answer; `CancellationError` if the task is cancelled before there is an answer.
  package func wait<Answer: Sendable>(
    in waiters: any WritableKeyPath<Value, Waiters<Answer>> & Sendable,
    unless known: (inout Value, UInt64) -> Result<Answer, any Error>?
  ) async throws -> Answer {
    let number = withLock { value in
      value[keyPath: waiters].lastNumber += 1
      return value[keyPath: waiters].lastNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer = withLock { value -> Result<Answer, any Error>? in
          if let answer = known(&value, number) { return answer }
          // A cancellation from now on finds the task; one before is seen here.
          if Task.isCancelled { return .failure(CancellationError()) }
          value[keyPath: waiters].continuations[number] = continuation
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      withLock { $0[keyPath: waiters].take(number) }?.resume(throwing: CancellationError())
    }
  }
}
