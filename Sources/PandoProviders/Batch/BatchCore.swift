import FoundationEssentials
import PandoConsistency
import PandoSystem

/// The part of a batch that the members know.
///
/// Members note that they have been told; once all of an update have, the batch's delegate is called.
final class BatchCore: LiveBatch {
  private struct State {
    weak var listener: BatchDataProviderListener?
    weak var delegate: (any BatchDataProviderListenerDelegate)?
    var told: [any AnyDataProvider] = []
    var context: (any Sendable)?
    var date = Date.distantPast
    var isPaused = false
  }

  private let state = Locked(State())

  var delegate: (any BatchDataProviderListenerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  var isPaused: Bool { state.withLock { $0.isPaused } }

  func connect(_ listener: BatchDataProviderListener) {
    state.withLock { $0.listener = listener }
  }

  /// Notes whether the batch stands still.
  ///
  /// - Returns: Whether that is a change.
  func setPaused(_ isPaused: Bool) -> Bool {
    state.withLock { exchange(&$0.isPaused, with: isPaused) != isPaused }
  }

  /// Notes that a member has been told; on the delivery target.
  func note(_ member: any AnyDataProvider, _ context: (any Sendable)?, _ date: Date) {
    state.withLock { state in
      if !state.told.contains(where: { $0 === member }) { state.told.append(member) }
      guard date >= state.date else { return }
      state.context = context
      state.date = date
    }
  }

  func deliver(_ changes: [any StagedChange]) { tell() }

  /// Tells the delegate of the members that have been told; on the delivery target.
  func tell() {
    let (listener, delegate, told, context) = state.withLock { state in
      state.date = .distantPast
      return (
        state.listener, state.delegate, exchange(&state.told, with: []),
        exchange(&state.context, with: nil)
      )
    }
    guard let listener, let delegate, !told.isEmpty else { return }
    delegate.batchDataProviderListenerHasUpdatedDataProviders(
      listener, dataProviders: told, context: context)
  }
}
