import FoundationEssentials
import PandoConsistency
import PandoSystem

/// The part of a batch that its members use.
///
/// Each member records its notification. After all notifications of an update, the batch's delegate
/// is called.
///
/// - One lock guards the state.
/// - `told`, `context` and `date` describe the current update.
final class BatchCore: LiveBatch {
  private struct State {
    weak var listener: BatchDataProviderListener?
    weak var delegate: (any BatchDataProviderListenerDelegate)?
    var told: [any AnyDataProvider] = []
    var context: (any Sendable)?
    var date = Date.distantPast
  }

  private let state = Locked(State())

  var delegate: (any BatchDataProviderListenerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  func connect(_ listener: BatchDataProviderListener) {
    state.withLock { $0.listener = listener }
  }

  /// Records that a member's delegate was called; on the delivery target.
  func note(_ member: any AnyDataProvider, _ context: (any Sendable)?, _ date: Date) {
    state.withLock { state in
      if !state.told.contains(where: { $0 === member }) { state.told.append(member) }
      guard date >= state.date else { return }
      state.context = context
      state.date = date
    }
  }

  func deliver(_ changes: [any StagedChange]) { tell() }

  /// Calls the delegate for the notified members; on the delivery target.
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
