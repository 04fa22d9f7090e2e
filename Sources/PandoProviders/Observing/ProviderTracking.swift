import Observation

/// Reports reads and changes of one provider to `withObservationTracking`.
///
/// It represents the provider. Its properties belong to no generic type, so their key paths cost
/// nothing.
package final class ProviderTracking: Observable, Sendable {
  private let registrar = ObservationRegistrar()

  package init() {}

  /// Represents the data that the provider shows.
  private var data: Void { () }
  /// Represents the provider's paused state.
  private var isPaused: Void { () }

  /// Records a read of the provider's data.
  package func readData() { registrar.access(self, keyPath: \.data) }

  /// Records a read of the provider's paused state.
  package func readIsPaused() { registrar.access(self, keyPath: \.isPaused) }

  /// Reports a change of the provider's data; calls closures of users.
  package func changedData() { registrar.withMutation(of: self, keyPath: \.data) {} }

  /// Reports a change of the provider's paused state; calls closures of users.
  package func changedIsPaused() { registrar.withMutation(of: self, keyPath: \.isPaused) {} }
}
