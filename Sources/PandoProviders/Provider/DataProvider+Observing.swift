public import Observation

/// Following a provider without a delegate: as asynchronous sequences, or by `withObservationTracking`,
/// which sees reads of `data` and `isPaused`.
///
/// A change that happens on another thread while the closure of `withObservationTracking` still runs
/// can go unnoticed: the Observation module begins to listen when the closure ends. Whoever must not
/// miss one iterates over ``values``.
extension DataProvider: Observable {
  /// The committed model, now and after each change; `nil` where there is none.
  ///
  /// What the provider has set itself comes when it is committed. A paused provider's sequence stands
  /// still.
  ///
  /// ```swift
  /// for try await message in provider.values { show(message) }
  /// ```
  public var values: ProviderSequence<T?> {
    ProviderSequence(
      ModelObservation<T, T?>(state: holder.observed()) { model, _ in model })
  }

  /// The committed model, now and after each change, with the context of the change.
  public var changes: ProviderSequence<ProviderChange<T>> {
    ProviderSequence(
      ModelObservation<T, ProviderChange<T>>(state: holder.observed()) { model, context in
        ProviderChange(data: model, context: context)
      })
  }
}
