import Dispatch
import PandoSystem

/// Tells the manager's delegate of events, on a queue of its own.
final class ManagerReporter: Sendable {
  private struct State {
    weak var manager: DataModelManager?
    weak var delegate: (any DataModelManagerDelegate)?
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "pando.events")

  var delegate: (any DataModelManagerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  func connect(_ manager: DataModelManager) { state.withLock { $0.manager = manager } }

  func report(_ event: DataModelEvent) {
    queue.async { [self] in
      let (manager, delegate) = state.withLock { ($0.manager, $0.delegate) }
      guard let manager, let delegate else { return }
      delegate.dataModelManager(manager, hasEvent: event)
    }
  }

  /// Calls back when everything reported so far has been told.
  func afterReports(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
