/// The tasks that wait for an answer; a part of the state behind a lock.
///
/// ```swift
/// let answer = try await state.wait(in: \.waiters) { state, _ in state.result.map { .success($0) } }
/// ```
/// A thread that has the answer takes the tasks under the lock, and resumes them outside it.
package struct Waiters<Answer: Sendable>: Sendable {
  /// Resumed with an answer or an error, once.
  package typealias Continuation = CheckedContinuation<Answer, any Error>

  fileprivate var continuations: [UInt64: Continuation] = [:]
  fileprivate var lastNumber: UInt64 = 0

  /// Makes an empty list.
  package init() {}

  /// The number of waiting tasks.
  package var count: Int { continuations.count }

  /// Removes and returns all tasks, in no order.
  ///
  /// - Complexity: O(1).
  package mutating func takeAll() -> some Collection<Continuation> {
    exchange(&continuations, with: [:]).values
  }

  /// Removes and returns a task.
  ///
  /// - Parameter number: The task's number.
  /// - Returns: `nil` if the task no longer waits.
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
  ///   - waiters: The list in which the task waits.
  ///   - known: Called under the lock with the task's number; returns the answer if there is one already.
  ///   - whenWaiting: Called outside the lock once the task is in the list.
  /// - Returns: The answer.
  /// - Throws: The error that was the answer; `CancellationError` if the task is cancelled before there is an answer.
  package func wait<Answer: Sendable>(
    in waiters: any WritableKeyPath<Value, Waiters<Answer>> & Sendable,
    unless known: (inout Value, UInt64) -> Result<Answer, any Error>?,
    whenWaiting: () -> Void = {}
  ) async throws -> Answer {
    let number = withLock { value in
      value[keyPath: waiters].lastNumber += 1
      return value[keyPath: waiters].lastNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer = withLock { value -> Result<Answer, any Error>? in
          if let answer = known(&value, number) { return answer }
          // A later cancellation finds the continuation in the list; an earlier one is seen here.
          if Task.isCancelled { return .failure(CancellationError()) }
          value[keyPath: waiters].continuations[number] = continuation
          return nil
        }
        if let answer { continuation.resume(with: answer) } else { whenWaiting() }
      }
    } onCancel: {
      withLock { $0[keyPath: waiters].take(number) }?.resume(throwing: CancellationError())
    }
  }
}
