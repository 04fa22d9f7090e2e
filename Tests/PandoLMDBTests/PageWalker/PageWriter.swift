import Foundation

/// A thread that runs a closure again and again until it is stopped.
final class PageWriter: @unchecked Sendable {
  // The lock guards both variables; `body` is only run by the thread.
  private let lock = NSLock()
  private var isStopping = false
  private var failure: (any Error)?
  private let ended = DispatchSemaphore(value: 0)

  init(_ body: @escaping (Int) throws -> Void) {
    nonisolated(unsafe) let body = body
    Thread.detachNewThread { [self] in
      var round = 0
      while !lock.withLock({ isStopping }) {
        do { try body(round) } catch { lock.withLock { failure = error } }
        round += 1
      }
      ended.signal()
    }
  }

  /// Waits for the thread's end; returns the last error of the closure.
  @discardableResult
  func stop() -> (any Error)? {
    lock.withLock { isStopping = true }
    ended.wait()
    ended.signal()
    return lock.withLock { failure }
  }
}
