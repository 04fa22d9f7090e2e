import PandoModels
import PandoSystem

/// Listeners that are told together: each as usual, and then one delegate for all of them.
///
/// ```swift
/// batch = BatchListener(listeners: [header, list], consistencyManager: manager)
/// batch.delegate = self  // told once an update, behind the two
/// ```
/// One listener that shows several models itself needs no batch: it listens to a ``BatchUpdateModel``.
///
/// It retains neither its members nor its delegate; whoever made it keeps it. A member belongs to one
/// batch only. Any thread may call it.
public final class BatchListener: LiveBatch {
  private struct State {
    weak var delegate: (any BatchListenerDelegate)?
    var isPaused = false
  }

  private weak let manager: ConsistencyManager?
  private let members: [ListenerHolder]
  private let state = Locked(State())

  /// Makes a batch and registers its members for what they show.
  ///
  /// - Parameters:
  ///   - listeners: The members; one that belongs to another batch stays there, and the manager's
  ///     delegate is told.
  ///   - consistencyManager: Who updates them.
  public init(
    listeners: [any ConsistencyManagerListener], consistencyManager: ConsistencyManager
  ) {
    manager = consistencyManager
    members = listeners.compactMap { consistencyManager.holderForBatch($0) }
    for member in members { member.state.withLock { $0.batch = self } }
  }

  deinit {
    let stays = members.filter { $0.resume(by: .batch) }
    manager?.catchUp(stays)
  }

  /// The delegate; not retained.
  public weak var delegate: (any BatchListenerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// The members that are alive.
  public var listeners: [any ConsistencyManagerListener] { members.compactMap(\.listener) }

  /// Returns what the members show now, as one model.
  ///
  /// Asks each member on the calling thread.
  ///
  /// - Returns: The models in the order of the members; `nil` for one that shows nothing or is no more.
  public func currentModel() -> BatchUpdateModel {
    BatchUpdateModel(models: members.map { $0.listener?.currentModel() })
  }

  /// Registers a member for what it shows now, after it has moved to another model by itself.
  ///
  /// - Parameter listener: Nothing happens if it is no member.
  public func listenerHasUpdatedModel(_ listener: any ConsistencyManagerListener) {
    guard let manager, members.contains(where: { $0.listener === listener }) else { return }
    manager.addListener(listener)
  }

  /// Whether the batch stands still: its members hear nothing until it is set back.
  ///
  /// Each member then catches up with at most one callback, and the delegate is called once.
  public var isPaused: Bool {
    get { state.withLock { $0.isPaused } }
    set {
      let changes = state.withLock { exchange(&$0.isPaused, with: newValue) != newValue }
      guard changes else { return }
      if newValue {
        for member in members { member.pause(by: .batch) }
      } else {
        manager?.catchUp(members.filter { $0.resume(by: .batch) })
      }
    }
  }

  package func deliver(_ changes: [any StagedChange]) {
    let told = changes.compactMap { change in
      (change as? ListenerChange)?.told ?? (change as? CatchUp)?.told
    }
    guard let delegate, let first = told.first else { return }
    var updates = ModelUpdates()
    for member in told { updates.formUnion(member.updates) }
    let newest = told.dropFirst().reduce(first) { $0.order < $1.order ? $1 : $0 }
    delegate.batchListener(
      self, hasUpdated: told.map(\.listener), updates: updates, context: newest.context)
  }
}
