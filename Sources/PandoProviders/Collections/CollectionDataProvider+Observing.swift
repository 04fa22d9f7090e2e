public import Observation
package import PandoModels
import PandoSystem

/// Observation of a provider without a delegate.
///
/// Use the asynchronous sequences ``values`` and ``changes``, or `withObservationTracking`, which
/// tracks reads of `data`, `count`, `isPaused` and elements.
///
/// `withObservationTracking` starts to observe when its closure ends. It therefore misses a change
/// that another thread makes while the closure runs. Use ``values`` if no change may be missed.
extension CollectionDataProvider: Observable {
  /// The committed elements, now and after each change.
  ///
  /// An uncommitted change is delivered after its commit. A paused provider delivers no changes.
  ///
  /// ```swift
  /// for try await messages in provider.values { show(messages) }
  /// ```
  public var values: FollowedSequence<[T]> {
    FollowedSequence(
      ListObservation(state: observed(), tellsChanges: false) { list, _, _ in list.models })
  }

  /// The committed elements, now and after each change, with the change and its context.
  ///
  /// A consumer that is slower than the commits gets several of them as one change. It leads
  /// exactly from the consumer's previous list to the newest one.
  public var changes: FollowedSequence<CollectionProviderChange<T>> {
    FollowedSequence(
      ListObservation(state: observed(), tellsChanges: true) { list, change, context in
        CollectionProviderChange(data: list.models, change: change, context: context)
      })
  }
}

extension CollectionDataProvider {
  /// Returns the state from which observers pull; the first call makes it.
  func observed() -> ObservedState<LiveList<T>> {
    let (observed, isNew) = seated(\.observed) { $0.observed(by: $1) }
    if isNew {
      dataModelManager.observed.insert(self)
      // Inserted before this check, so that either `close()` or this call ends the observation.
      if dataModelManager.isClosed.withLock({ $0 }) { observed.finish() }
    }
    return observed
  }

  /// Records a tracked read.
  func trackRead(_ read: (ProviderTracking) -> Void) {
    read(seated(\.tracking) { $0.tracking(of: $1) }.value)
  }

  /// Reports a change of `data` to tracked readers; calls closures of users.
  func dataHasChanged() { state.withLock { $0?.tracking }?.changedData() }

  /// Reports a change of `isPaused` to tracked readers; calls closures of users.
  func isPausedHasChanged() { state.withLock { $0?.tracking }?.changedIsPaused() }

  /// Ends all observations when the provider is released.
  func detachObservers() {
    guard let observed = state.withLock({ $0?.observed }) else { return }
    observed.finish()
    dataModelManager.observed.remove(self)
  }

  /// Returns an object that the provider shares with its member in the collection; the first call
  /// makes it.
  private func seated<Value: Sendable>(
    _ property: WritableKeyPath<State, Value?>,
    orMake make: (LiveCollection<T>, UInt64) -> Value?
  ) -> (value: Value, isNew: Bool) {
    while true {
      if let value = state.withLock({ $0?[keyPath: property] }) { return (value, false) }
      let seat = seat
      guard let value = make(seat.collection, seat.member) else { continue }
      let isKept = state.withLock { state in
        guard state?.collection === seat.collection, state?.member == seat.member,
          state?[keyPath: property] == nil
        else { return false }
        state?[keyPath: property] = value
        return true
      }
      if isKept { return (value, true) }
    }
  }
}

extension CollectionDataProvider: ObservedHolder {
  package func shows(_ key: ByteString, as type: (any SimpleModel.Type)?) -> Bool {
    guard let type else { return cacheKey.map { ByteString($0) } == key }
    return seen { $0.committed(of: $1) }.models.contains { $0.containsNode(key, as: type) }
  }

  package func endObservations(_ error: (any Error)?) {
    guard let observed = state.withLock({ $0?.observed }) else { return }
    if let error { observed.fail(error) } else { observed.finish() }
  }
}
