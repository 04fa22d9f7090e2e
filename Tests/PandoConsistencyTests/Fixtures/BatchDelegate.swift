import PandoConsistency

/// Keeps what a batch tells.
final class BatchDelegate: BatchListenerDelegate {
  struct Call: Sendable {
    let listeners: [any ConsistencyManagerListener]
    let updates: ModelUpdates
    let context: (any Sendable)?
  }

  private let recorder = Recorder<Call>()
  private let onCall: @Sendable () -> Void

  init(_ onCall: @escaping @Sendable () -> Void = {}) { self.onCall = onCall }

  var calls: [Call] { recorder.values }

  func batchListener(
    _ batchListener: BatchListener, hasUpdated listeners: [any ConsistencyManagerListener],
    updates: ModelUpdates, context: (any Sendable)?
  ) {
    recorder.append(Call(listeners: listeners, updates: updates, context: context))
    onCall()
  }
}
