import Dispatch
import PandoModels
import PandoSystem

/// Calls a manager's delegate, on a queue of its own, and the listeners of all updates.
final class Reporter: PipelineReporter {
  private struct State {
    weak var manager: ConsistencyManager?
    weak var delegate: (any ConsistencyManagerDelegate)?
    var mistakeHandler: (@Sendable (ConsistencyError) -> Void)?
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "pando.delegate")
  private let updatesListeners: UpdatesListeners

  init(_ updatesListeners: UpdatesListeners) { self.updatesListeners = updatesListeners }

  func attach(_ manager: ConsistencyManager) { state.withLock { $0.manager = manager } }

  var delegate: (any ConsistencyManagerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  var hasDelegate: Bool { delegate != nil }

  /// Sets a second receiver of mistakes.
  ///
  /// It is called on the thread that finds them, so it must be quick.
  func setMistakeHandler(_ handler: @escaping @Sendable (ConsistencyError) -> Void) {
    state.withLock { $0.mistakeHandler = handler }
  }

  func report(_ mistakes: [ConsistencyError]) {
    guard !mistakes.isEmpty else { return }
    let (handler, hasDelegate) = state.withLock { ($0.mistakeHandler, $0.delegate != nil) }
    for mistake in mistakes { handler?(mistake) }
    guard hasDelegate else { return }
    tell { manager, delegate in
      for mistake in mistakes { delegate.consistencyManager(manager, found: mistake) }
    }
  }

  func report(_ replacements: [Replacement], context: (any Sendable)?) {
    guard !replacements.isEmpty else { return }
    tell { manager, delegate in
      for replacement in replacements {
        delegate.consistencyManager(
          manager, willReplace: replacement.old, with: replacement.new, context: context)
      }
    }
  }

  func updatesTelling() -> (@Sendable (LiveUpdate) -> Void)? {
    let listeners = updatesListeners.active
    if listeners.isEmpty { return nil }
    return { [self] update in
      guard let manager = state.withLock({ $0.manager }) else { return }
      let told = ConsistencyManagerUpdate(update)
      for holder in listeners where !holder.isRemoved {
        holder.listener?.consistencyManager(manager, processed: told)
      }
    }
  }

  /// Calls a closure after all queued calls of the delegate.
  func afterAll(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  private func tell(
    _ body: @escaping @Sendable (ConsistencyManager, any ConsistencyManagerDelegate) -> Void
  ) {
    queue.async {
      let (manager, delegate) = self.state.withLock { ($0.manager, $0.delegate) }
      if let manager, let delegate { body(manager, delegate) }
    }
  }
}
