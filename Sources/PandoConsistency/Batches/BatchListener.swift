import PandoModels
import PandoSystem

/// A group of listeners that have one additional delegate in common.
///
/// ```swift
/// batch = BatchListener(listeners: [header, list], consistencyManager: manager)
/// batch.delegate = self  // called once for each update, after both listeners
/// ```
/// Each listener still receives its own calls. Use a ``BatchUpdateModel`` instead if one listener
/// shows several models.
///
/// The batch retains neither its members nor its delegate; the program must retain the batch. A
/// listener belongs to at most one batch. Any thread may call it.
public final class BatchListener: LiveBatch {
  private struct State {
    weak var delegate: (any BatchListenerDelegate)?
  }

  private weak let manager: ConsistencyManager?
  private let members: [ListenerHolder]
  private let state = Locked(State())
  private let pause = BatchPause()

  /// Creates a batch and registers its members for their current models.
  ///
  /// - Parameters:
  ///   - listeners: The members. A listener of another batch stays there, and the manager reports
  ///     `memberOfAnotherBatch` to its delegate.
  ///   - consistencyManager: The manager of the members.
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

  /// The members that still exist.
  public var listeners: [any ConsistencyManagerListener] { members.compactMap(\.listener) }

  /// Returns the current models of the members as one model.
  ///
  /// Calls each member on the calling thread.
  ///
  /// - Returns: The models in the order of the members; `nil` for a member without a model and for
  ///   a released one.
  public func currentModel() -> BatchUpdateModel {
    BatchUpdateModel(models: members.map { $0.listener?.currentModel() })
  }

  /// Registers a member for its current model, after it has changed to another model by itself.
  ///
  /// - Parameter listener: Ignored if it is not a member.
  public func listenerHasUpdatedModel(_ listener: any ConsistencyManagerListener) {
    guard let manager, members.contains(where: { $0.listener === listener }) else { return }
    manager.addListener(listener)
  }

  /// True if the batch and its members are paused.
  ///
  /// After a pause, each member gets at most one call, and the batch calls its delegate
  /// once.
  public var isPaused: Bool {
    get { pause.isPaused }
    set {
      pause.set(newValue) { isPaused in
        if isPaused {
          for member in members { member.pause(by: .batch) }
        } else {
          manager?.catchUp(members.filter { $0.resume(by: .batch) })
        }
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
