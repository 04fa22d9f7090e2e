import Locking
public import ModelCore

/// A change that is shown already and takes its way to the disk.
///
/// It can be ignored: the change is made all the same, and a failure is told to the manager's
/// delegate.
public final class PendingWrite: Sendable {
  private struct State {
    var result: Result<ChangeSet?, any Error>?
    var waiters: [CheckedContinuation<ChangeSet?, any Error>] = []
  }

  /// What the call did to the collection it was made on; `nil` for single models, and when the call
  /// changed nothing.
  public let change: CollectionChange?
  private let state: Locked<State>

  init(change: CollectionChange? = nil) {
    self.change = change
    state = Locked(State())
  }

  /// A change that was refused at once; nothing has changed.
  convenience init(refused error: any Error) {
    self.init()
    finish(.failure(error))
  }

  /// A change that there was nothing to do for.
  static var done: PendingWrite {
    let write = PendingWrite()
    write.finish(.success(nil))
    return write
  }

  /// Why the change was refused or has failed; `nil` if it is done or on its way.
  public var error: (any Error)? {
    state.withLock { state in
      guard case .failure(let error) = state.result else { return nil }
      return error
    }
  }

  /// Waits until the change is committed.
  ///
  /// - Returns: What the commit changed; `nil` if it changed nothing, or if there is no store.
  /// - Throws: What refused the change or made it fail; then it is shown no longer.
  @discardableResult
  public func committed() async throws -> ChangeSet? {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.waiters.append(continuation) }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  func finish(_ result: Result<ChangeSet?, any Error>) {
    let waiters = state.withLock { state in
      if state.result == nil { state.result = result }
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
