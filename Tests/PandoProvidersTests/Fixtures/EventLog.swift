import PandoProviders
import PandoSystem

/// Remembers the events of a manager.
final class EventLog: DataModelManagerDelegate {
  private let log = Locked<[DataModelEvent]>([])

  var events: [DataModelEvent] { log.withLock { $0 } }

  var failedWrites: [[String]] {
    events.compactMap { event in
      guard case .failedWrite(_, let subjects, _) = event else { return nil }
      return subjects
    }
  }

  var refusals: [any Error] {
    events.compactMap { event in
      guard case .refusedChange(let error, _, _) = event else { return nil }
      return error
    }
  }

  var failedReads: [String] {
    events.compactMap { event in
      guard case .failedRead(_, let subject) = event else { return nil }
      return subject
    }
  }

  var mistakes: Int {
    events.count { event in
      if case .mistake = event { return true }
      return false
    }
  }

  var limits: Int {
    events.count { event in
      if case .tooManyCallbacks = event { return true }
      return false
    }
  }

  func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
    log.withLock { $0.append(event) }
  }
}
