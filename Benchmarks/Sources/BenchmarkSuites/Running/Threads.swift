import Foundation
import Synchronization

/// Threads that end with success or an error.
final class Threads: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  /// Runs `body` on a thread of its own.
  func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      do {
        try body()
      } catch {
        failure.withLock { $0 = error }
      }
      group.leave()
    }
  }

  /// Waits for all threads.
  ///
  /// - Throws: An error of one of them.
  func wait() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  /// Runs `body` on so many threads, each with its number, and waits for them.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let threads = Threads()
    for number in 0..<count { threads.start { try body(number) } }
    try threads.wait()
  }
}
