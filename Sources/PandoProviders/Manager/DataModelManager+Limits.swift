extension DataModelManager {
  /// How far a manager lets things pile up.
  ///
  /// ```swift
  /// let limits = DataModelManager.Limits(undeliveredCallbacksMaximum: 1_000)
  /// let manager = try DataModelManager(store: store, limits: limits)
  /// ```
  public struct Limits: Sendable {
    /// How many callbacks of one provider may wait to be delivered.
    ///
    /// At the limit the provider is paused as by `isPaused`, the manager's delegate is told, and one
    /// callback tells of all that was missed when the others are delivered.
    public var undeliveredCallbacksMaximum: Int

    /// Makes the limits that suit most services.
    ///
    /// - Parameter undeliveredCallbacksMaximum: At least 1.
    public init(undeliveredCallbacksMaximum: Int = 10_000) {
      precondition(
        undeliveredCallbacksMaximum >= 1,
        "undeliveredCallbacksMaximum is \(undeliveredCallbacksMaximum), at least 1 is needed")
      self.undeliveredCallbacksMaximum = undeliveredCallbacksMaximum
    }
  }
}
