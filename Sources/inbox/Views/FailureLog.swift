import Pando

/// Logs what goes wrong: calls on providers don't throw, the manager's delegate is told instead.
final class FailureLog: DataModelManagerDelegate {
  private let log: Log

  init(_ log: Log) {
    self.log = log
  }

  /// Called on a queue of the manager's own.
  func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
    Task { @MainActor [log] in log("Store", .service, "\(event)") }
  }
}
