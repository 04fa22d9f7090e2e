import PandoConsistency

/// Keeps every update.
final class UpdatesListener: ConsistencyManagerUpdatesListener {
  private let recorder = Recorder<ConsistencyManagerUpdate>()
  private let onCall: @Sendable () -> Void

  init(_ onCall: @escaping @Sendable () -> Void = {}) { self.onCall = onCall }

  var updates: [ConsistencyManagerUpdate] { recorder.values }

  func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate
  ) {
    recorder.append(update)
    onCall()
  }
}
