public import Observation
package import PandoModels
import PandoSystem

/// Following a provider without a delegate: as asynchronous sequences, or by `withObservationTracking`,
/// which sees reads of `data`, `count`, `isPaused` and elements.
///
/// A change that happens on another thread while the closure of `withObservationTracking` still runs
/// can go unnoticed: the Observation module begins to listen when the closure ends. Whoever must not
/// miss one iterates over ``values``.
extension CollectionDataProvider: Observable {
  /// The committed elements, now and after each change.
  ///
  /// What is not committed yet comes when it is. A paused provider's sequence stands still.
  ///
  /// ```swift
  /// for try await messages in provider.values { show(messages) }
  /// ```
  public var values: ProviderSequence<[T]> {
    ProviderSequence(ListObservation(state: observed()) { list, _, _ in list.models })
  }

  /// The committed elements, now and after each change, with what has changed since the element
  /// before, and the context of the change.
  ///
  /// Whoever is slower than the commits gets one change that leads exactly from the list it got before
  /// to the newest one.
  public var changes: ProviderSequence<CollectionProviderChange<T>> {
    ProviderSequence(
      ListObservation(state: observed()) { list, change, context in
        CollectionProviderChange(data: list.models, change: change, context: context)
      })
  }
}

extension CollectionDataProvider {
  /// What observers pull from, made at the first call.
  func observed() -> ObservedState<LiveList<T>> {
    let (observed, isNew) = seated(\.observed) { $0.observed(by: $1) }
    if isNew {
      dataModelManager.observed.insert(self)
      // Known before this is asked: one of the two sees the other.
      if dataModelManager.isClosed.withLock({ $0 }) { observed.finish() }
    }
    return observed
  }

  /// Tells those who track what is read that somebody reads.
  func trackRead(_ read: (ProviderTracking) -> Void) {
    read(seated(\.tracking) { $0.tracking(of: $1) }.value)
  }

  /// Tells those who track reads that `data` has changed; calls closures of users.
  func dataHasChanged() { state.withLock { $0?.tracking }?.changedData() }

  /// Tells those who track reads that `isPaused` has changed; calls closures of users.
  func isPausedHasChanged() { state.withLock { $0?.tracking }?.changedIsPaused() }

  /// Ends all observations when the provider goes.
  func detachObservers() {
    guard let observed = state.withLock({ $0?.observed }) else { return }
    observed.finish()
    dataModelManager.observed.remove(self)
  }

  /// Something that the provider and its member in the collection have, made at the first call.
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
