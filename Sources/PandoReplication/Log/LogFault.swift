package import PandoStore

/// Why a call of a log failed.
///
/// ```swift
/// do {
///   log = try NATSLog(configuration)
/// } catch LogFault.unavailable(let reason) {
///   print("no log:", reason)
/// }
/// ```
public enum LogFault: Error, Equatable {
  /// The log did not answer: it may have appended the message or not.
  case noAnswer
  /// The message was not appended; the log ends at another position than expected.
  case endsElsewhere
  /// The log can't be reached; nothing was done.
  case unavailable(String)
  /// The log no longer has the requested messages.
  ///
  /// `first` is the position of the first message that it has.
  case gone(first: UInt64)
}

/// Runs a closure, and throws faults of a log as errors of a store.
func translatingFaults<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let fault as LogFault {
    throw fault.error(path)
  }
}

extension LogFault {
  /// Whether a later call may reach the log.
  var isAway: Bool {
    switch self {
    case .unavailable, .noAnswer: true
    case .endsElsewhere, .gone: false
    }
  }

  /// The error that calls of a store throw for the fault.
  package func error(_ path: String) -> StoreError {
    switch self {
    case .noAnswer:
      StoreError(.unavailable, path, "the log has not answered")
    case .endsElsewhere:
      StoreError(.unavailable, path, "another machine appended to the log at the same time")
    case .unavailable(let reason): StoreError(.unavailable, path, reason)
    case .gone(let first):
      StoreError(.logLost, path, "the log now begins at position \(first)")
    }
  }
}
