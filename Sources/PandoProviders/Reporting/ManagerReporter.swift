import Dispatch
import PandoSystem

/// Tells the manager's delegate of events, on a queue of its own.
final class ManagerReporter: Sendable {
  private let tell = Locked<(@Sendable (DataModelEvent) -> Void)?>(nil)
  private let queue = DispatchQueue(label: "pando.events")

  /// Sets who is told, which must not retain the manager; nobody is before.
  func connect(_ tell: @escaping @Sendable (DataModelEvent) -> Void) {
    self.tell.withLock { $0 = tell }
  }

  func report(_ event: DataModelEvent) {
    queue.async { [self] in tell.withLock { $0 }?(event) }
  }

  /// Calls back when everything reported so far has been told.
  func afterReports(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
