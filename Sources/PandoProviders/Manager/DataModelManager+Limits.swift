extension DataModelManager {
  /// The limits of a manager's queues.
  ///
  /// ```swift
  /// let limits = DataModelManager.Limits(undeliveredCallbacksMaximum: 1_000)
  /// let manager = try DataModelManager(store: store, limits: limits)
  /// ```
  public struct Limits: Sendable {
    /// The maximum number of queued callbacks of one provider.
    ///
    /// At the limit Pando pauses the provider, and reports it to the manager's delegate. After the
    /// queued callbacks, one callback reports all further changes, and the pause ends.
    public var undeliveredCallbacksMaximum: Int

    /// Creates limits; the default suits most services.
    ///
    /// - Parameter undeliveredCallbacksMaximum: At least 1.
    public init(undeliveredCallbacksMaximum: Int = 10_000) {
      precondition(
        undeliveredCallbacksMaximum >= 1,
        "undeliveredCallbacksMaximum is \(undeliveredCallbacksMaximum); it must be at least 1")
      self.undeliveredCallbacksMaximum = undeliveredCallbacksMaximum
    }
  }
}
