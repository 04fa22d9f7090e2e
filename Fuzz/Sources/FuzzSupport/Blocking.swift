internal import Dispatch
internal import Synchronization

/// Runs asynchronous work and waits for it: libFuzzer calls its target without a task.
///
/// - Parameter body: The work.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
public func blocking<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let result = Answer<Value>()
  Task.detached {
    do { result.set(.success(try await body())) } catch { result.set(.failure(error)) }
  }
  return try result.wait()
}

private final class Answer<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func set(_ value: Result<Value, any Error>) {
    result.withLock { $0 = value }
    isThere.signal()
  }

  func wait() throws -> Value {
    isThere.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("signalled and not set") }
    return try value.get()
  }
}
