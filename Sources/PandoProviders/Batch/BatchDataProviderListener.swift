import PandoConsistency
import PandoSystem

/// Providers that are told together: each as usual, and then one delegate for all of them.
///
/// ```swift
/// batch = BatchDataProviderListener(
///   dataProviders: [message, contacts], dataModelManager: manager)
/// batch.delegate = self  // told once a change, behind those of the two
/// ```
///
/// It retains neither its members nor its delegate; whoever made it keeps it. A member belongs to one
/// batch only. Any thread may use it.
public final class BatchDataProviderListener: Sendable {
  /// The manager of the members.
  public let dataModelManager: DataModelManager
  private let core = BatchCore()
  private let members: [WeakReference<any BatchMember>]

  /// Makes a batch.
  ///
  /// - Parameters:
  ///   - dataProviders: The members; one that belongs to another batch stays there, and the manager's
  ///     delegate is told.
  ///   - dataModelManager: The manager of all of them.
  public init(dataProviders: [any AnyDataProvider], dataModelManager: DataModelManager) {
    self.dataModelManager = dataModelManager
    let core = core
    members = dataProviders.compactMap { provider in
      precondition(
        provider.dataModelManager === dataModelManager, "a member of a batch has another manager")
      guard let member = provider as? any BatchMember else {
        preconditionFailure("\(type(of: provider)) is no provider of this library")
      }
      if member.join(core) { return WeakReference(member) }
      dataModelManager.consistencyManager.report(
        ConsistencyError(
          .memberOfAnotherBatch,
          reason: "a \(type(of: provider)) belongs to another batch already, and stays there"))
      return nil
    }
    core.connect(self)
  }

  deinit { resume() }

  /// Who hears of changes; not retained.
  public var delegate: (any BatchDataProviderListenerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// The members that are alive.
  public var dataProviders: [any AnyDataProvider] { members.compactMap(\.object) }

  /// Whether the batch stands still, with all its members.
  ///
  /// At the end each member catches up with at most one callback, and the delegate is called once.
  public var isPaused: Bool {
    get { core.isPaused }
    set {
      guard core.setPaused(newValue) else { return }
      if newValue {
        for member in members { member.object?.pauseForBatch() }
      } else {
        resume()
      }
    }
  }

  private func resume() {
    let ends = members.compactMap { $0.object?.resumeForBatch() }
    guard !ends.isEmpty else { return }
    dataModelManager.consistencyManager.enqueue { scope in
      let resumed = ends.compactMap { $0(scope) }
      guard let newest = resumed.map(\.update).max(by: { $0.date < $1.date }) else { return }
      scope.publish(resumed.map(\.change), newest)
    }
  }
}
