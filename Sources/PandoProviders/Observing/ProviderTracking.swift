import Observation

/// Tells `withObservationTracking` of reads and changes of one provider.
///
/// It stands in for the provider: its properties belong to no generic type, so naming them costs
/// nothing.
package final class ProviderTracking: Observable, Sendable {
  private let registrar = ObservationRegistrar()

  /// Begins to listen.
  package init() {}

  /// Stands for what the provider shows.
  private var data: Void { () }
  /// Stands for whether the provider is paused.
  private var isPaused: Void { () }

  /// Somebody reads what the provider shows.
  package func readData() { registrar.access(self, keyPath: \.data) }

  /// Somebody reads whether the provider is paused.
  package func readIsPaused() { registrar.access(self, keyPath: \.isPaused) }

  /// What the provider shows has changed; calls closures of users.
  package func changedData() { registrar.withMutation(of: self, keyPath: \.data) {} }

  /// Whether the provider is paused has changed; calls closures of users.
  package func changedIsPaused() { registrar.withMutation(of: self, keyPath: \.isPaused) {} }
}
