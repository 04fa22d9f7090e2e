import Dispatch
import PandoSystem

/// Reports events to the manager's delegate, on a queue of its own.
final class ManagerReporter: Sendable {
  private let tell = Locked<(@Sendable (DataModelEvent) -> Void)?>(nil)
  private let queue = DispatchQueue(label: "pando.events")

  /// Sets the receiver of events, which must not retain the manager.
  ///
  /// Earlier events are dropped.
  func connect(_ tell: @escaping @Sendable (DataModelEvent) -> Void) {
    self.tell.withLock { $0 = tell }
  }

  func report(_ event: DataModelEvent) {
    queue.async { [self] in tell.withLock { $0 }?(event) }
  }

  /// Calls `body` after all events reported so far were delivered.
  func afterReports(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
