import PandoConsistency
import PandoSystem

/// A group of providers that have one additional delegate in common.
///
/// ```swift
/// batch = BatchDataProviderListener(
///   dataProviders: [message, contacts], dataModelManager: manager)
/// batch.delegate = self  // called once for each change, after the delegates of both providers
/// ```
///
/// Each provider still calls its own delegate. Use a batch if one change of several providers must
/// lead to one callback; use the providers' own delegates otherwise.
///
/// The batch retains neither its members nor its delegate; the program must retain the batch. A
/// provider belongs to at most one batch. Any thread may use it.
public final class BatchDataProviderListener: Sendable {
  /// The manager of the members.
  public let dataModelManager: DataModelManager
  private let core = BatchCore()
  private let pause = BatchPause()
  private let members: [WeakReference<any BatchMember>]

  /// Creates a batch.
  ///
  /// - Parameters:
  ///   - dataProviders: The members. A provider of another batch stays there, and Pando reports
  ///     `memberOfAnotherBatch` to the manager's delegate.
  ///   - dataModelManager: The manager of all members.
  public init(dataProviders: [any AnyDataProvider], dataModelManager: DataModelManager) {
    self.dataModelManager = dataModelManager
    let core = core
    members = dataProviders.compactMap { provider in
      precondition(
        provider.dataModelManager === dataModelManager, "a batch member belongs to another manager")
      guard let member = provider as? any BatchMember else {
        preconditionFailure("\(type(of: provider)) is not a provider of this library")
      }
      if member.join(core) { return WeakReference(member) }
      dataModelManager.consistencyManager.report(
        ConsistencyError(
          .memberOfAnotherBatch,
          reason: "a \(type(of: provider)) already belongs to another batch, and stays there"))
      return nil
    }
    core.connect(self)
  }

  deinit { resume() }

  /// The delegate that is called after the members' delegates; not retained.
  public var delegate: (any BatchDataProviderListenerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// The members that still exist.
  public var dataProviders: [any AnyDataProvider] { members.compactMap(\.object) }

  /// True if the batch and all its members are paused.
  ///
  /// After a pause, each member calls its delegate at most once, and the batch calls its
  /// delegate once.
  public var isPaused: Bool {
    get { pause.isPaused }
    set {
      pause.set(newValue) { isPaused in
        if isPaused {
          for member in members { member.object?.pauseForBatch() }
        } else {
          resume()
        }
      }
    }
  }

  private func resume() {
    let ends = members.compactMap { $0.object?.resumeForBatch() }
    guard !ends.isEmpty else { return }
    dataModelManager.consistencyManager.enqueue { scope in
      scope.publish(ends.compactMap { $0(scope) })
    }
  }
}
