import Synchronization

/// The last error of several tasks.
final class TaskFailure: Sendable {
  private let state = Mutex<(any Error)?>(nil)

  var error: (any Error)? { state.withLock { $0 } }

  func keep(_ error: any Error) { state.withLock { $0 = error } }
}
