public import Observation

/// Observation of a provider without a delegate.
///
/// Use the asynchronous sequences ``values`` and ``changes``, or `withObservationTracking`, which
/// tracks reads of `data` and `isPaused`.
///
/// `withObservationTracking` starts to observe when its closure ends. It therefore misses a change
/// that another thread makes while the closure runs. Use ``values`` if no change may be missed.
extension DataProvider: Observable {
  /// The committed model, now and after each change; `nil` if there is none.
  ///
  /// A change by the provider itself is delivered after its commit. During a pause, only these
  /// changes are delivered.
  ///
  /// ```swift
  /// for try await message in provider.values { show(message) }
  /// ```
  public var values: FollowedSequence<T?> {
    FollowedSequence(
      ModelObservation<T, T?>(state: holder.observed()) { model, _ in model })
  }

  /// The committed model, now and after each change, with the context of the change.
  public var changes: FollowedSequence<ProviderChange<T>> {
    FollowedSequence(
      ModelObservation<T, ProviderChange<T>>(state: holder.observed()) { model, context in
        ProviderChange(data: model, context: context)
      })
  }
}
